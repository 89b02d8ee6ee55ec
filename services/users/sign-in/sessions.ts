import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { type Insert, orUnavailable, readNow, type Sql, type Transaction } from '#lib/database/database'
import { repeat } from '#lib/repeat'
import { anonymous } from '#lib/rpc/caller'
import type { Context } from '../context.ts'
import { type TokenRow, tokenRow } from '../token.ts'
import type { Session, SessionEvent } from '../vocabulary/session.ts'

const mostAtOnce = 200
const every = 10_000
// Milliseconds after its end during which a session can be distinguished from one that never existed.
const keptFor = 30 * 86_400_000
const portion = 1000

/**
 * Stores the token of a new session by its hash alone. A user may have at most `most` living sessions. The tokens of
 * the oldest surplus ones go in the same transaction, wherever they were made. `endSurplus` adds their events.
 */
export function storeSession(token: string, row: TokenRow, most: number): Insert {
  return { row: { ...tokenRow(token, row), most }, into: insertSessions }
}

function insertSessions(sql: Transaction, rows: object[]) {
  return sql`select store_session_tokens(${JSON.stringify(rows)}::text::jsonb)`
}

/**
 * Ends the sessions of this user, or of any user, that lost their token to newer sessions. Each gets the usual event.
 */
export async function endSurplus({ sql, store }: Pick<Context, 'sql' | 'store'>, userId?: string): Promise<void> {
  const surplus = await orUnavailable(sql<{ sessionId: string; userId: string }[]>`
    select session_id as "sessionId", user_id as "userId" from surplus_sessions
    ${userId === undefined ? sql`` : sql`where user_id = ${userId}`}
    limit ${mostAtOnce}
  `)
  await Promise.all(
    surplus.map((entry) =>
      store.execute({
        aggregate: { type: 'session', id: entry.sessionId },
        call: {
          caller: { ...anonymous, userId: entry.userId },
          requestId: 'surplus-session',
          deadline: Date.now() + 30_000,
        },
        decide: ({ state }: Aggregate<Session>): Decision<SessionEvent> => ({
          events: state && !state.ended ? [{ type: 'ended', payload: { userId: state.userId } }] : [],
          answer: undefined,
        }),
      }),
    ),
  )
  const ids = surplus.map(({ sessionId }) => sessionId)
  if (ids.length > 0) await sql`delete from surplus_sessions where session_id = any(${ids}::text[])`
}

/** Ends the surplus sessions that a dead replica left, now and every ten seconds. */
export function startEndingSurplus(context: Context): { stop(): Promise<void> } {
  const failed = (error: unknown) => context.log.warn({ err: error }, 'ending surplus sessions failed')
  return repeat({ work: () => endSurplus(context), every, retryAfter: every, failed })
}

/** The owner of a session, also of a pruned one; undefined where there never was one. UNAVAILABLE STORE_UNAVAILABLE. */
export async function ownerOf(
  { sql, store }: Pick<Context, 'sql' | 'store'>,
  sessionId: string,
): Promise<{ userId: string; organizationId: string } | undefined> {
  const session = await store.load<Session>('session', sessionId)
  if (session) return { userId: session.state.userId, organizationId: session.organizationId }
  const [created] = await orUnavailable(sql<{ userId: string; organizationId: string }[]>`
    select payload ->> 'userId' as "userId", organization_id as "organizationId" from events
    where aggregate_type = 'session' and aggregate_id = ${sessionId} and sequence = 1
  `)
  return created
}

/**
 * Deletes the state of sessions that ended or expired thirty days ago. Their events stay, and no other session gets
 * their id. So a decision on the missing state can only be that no such session exists.
 */
export async function pruneSessions(sql: Sql): Promise<void> {
  const before = new Date((await readNow(sql)).getTime() - keptFor)
  // An id of that time begins like this, so the index finds older sessions.
  const time = before.getTime().toString(16).padStart(12, '0')
  const id = `${time.slice(0, 8)}-${time.slice(8)}`
  let pruned = 0
  do {
    const { count } = await sql`
      delete from aggregates a using (
        select id from aggregates
        where type = 'session' and id < ${id} and changed_at < ${before}
          and ((state ->> 'ended')::boolean or (state ->> 'expiresAt')::timestamptz < ${before})
        limit ${portion}
      ) old
      where a.type = 'session' and a.id = old.id and a.changed_at < ${before}
    `
    pruned = count
  } while (pruned === portion)
}
