import { type ByFunction, type Fragment, orUnavailable, readNow, type Sql } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision, Outcome } from '#lib/eventstore/command'
import { RosterError } from '#lib/errors'
import type { Context } from '../context.ts'
import { rowsFor } from '../row-function.ts'
import { type TokenRow, tokenRow } from '../directory/tokens/token.ts'
import type { Session, SessionEvent } from './events/session.ts'

// Milliseconds after its end during which a session can be distinguished from one that never existed.
const keptFor = 30 * 86_400_000
const portion = 1000

/**
 * Stores the token of a new session by its hash alone. A user may have at most `most` living sessions. The tokens of
 * the oldest surplus ones go in the same transaction, wherever they were made. `surplusSessions` adds their events.
 */
export function storeSession(token: string, row: TokenRow, most: number): ByFunction {
  return keepToken({ ...tokenRow(token, row), most })
}

const keepToken = rowsFor<object>('keep_session_tokens')

/** The command that ends a session. Its answer: whether it was there. */
export function endSession(id: string) {
  return {
    aggregate: { type: 'session', id },
    decide: ({ state }: Aggregate<Session>): Decision<SessionEvent, boolean> =>
      state && !state.ended
        ? { events: [{ type: 'ended', payload: { userId: state.userId } }], answer: true }
        : { events: [], answer: false },
    respond: ({ answer }: Outcome<Session, boolean>) => answer,
  }
}

export function sessionNotFound(): RosterError {
  return new RosterError('NOT_FOUND', 'SESSION_NOT_FOUND', 'There is no such session.')
}

/** The owner of a session, also of a half-done or a pruned one; undefined where there never was one. UNAVAILABLE STORE_UNAVAILABLE. */
export async function ownerOf(
  { sql, store }: Pick<Context, 'sql' | 'store'>,
  sessionId: string,
): Promise<{ userId: string; organizationId: string } | undefined> {
  const session = await store.load<Session>('session', sessionId)
  if (session) return { userId: session.state.userId, organizationId: session.organizationId }
  const [created] = await orUnavailable(sql<{ userId: string; organizationId: string }[]>`
    select payload ->> 'userId' as "userId", organization_id as "organizationId" from events
    where aggregate_type = 'session' and aggregate_id = ${sessionId} and sequence = 1
    union all
    select user_id, organization_id from half_done_sessions where session_id = ${sessionId}
  `)
  return created
}

/**
 * Deletes the state of sessions that ended or expired thirty days ago. Their events stay, and no other session gets
 * their id. So a decision on the missing state can only be that no such session exists.
 */
export async function pruneSessions(sql: Sql): Promise<void> {
  await pruneStates(
    sql,
    'session',
    keptFor,
    (before) => sql`(state ->> 'ended')::boolean or (state ->> 'expiresAt')::timestamptz < ${before}`,
  )
}

/** Deletes the state of what did not change for so many milliseconds, and is over. Its ids are UUIDs of version 7. */
export async function pruneStates(
  sql: Sql,
  type: string,
  keptFor: number,
  isOver: (before: Date) => Fragment,
): Promise<void> {
  const before = new Date((await readNow(sql)).getTime() - keptFor)
  // An id of that time begins like this, so the index finds older ones.
  const time = before.getTime().toString(16).padStart(12, '0')
  const id = `${time.slice(0, 8)}-${time.slice(8)}`
  let pruned = 0
  do {
    const { count } = await sql`
      delete from aggregates a using (
        select id from aggregates
        where type = ${type} and id < ${id} and changed_at < ${before} and (${isOver(before)})
        limit ${portion}
      ) old
      where a.type = ${type} and a.id = old.id and a.changed_at < ${before}
    `
    pruned = count
  } while (pruned === portion)
}
