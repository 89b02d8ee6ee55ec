import { batchCalls } from '#lib/batch-calls'
import { orUnavailable, type Sql } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { NewEvent } from '#lib/eventstore/command'
import { repeat } from '#lib/repeat'
import { anonymous } from '#lib/rpc/caller'
import type { Context } from '../context.ts'
import { type Authorization, authorizationType, type EndReason, endOf } from '../vocabulary/authorization.ts'
import type { Session } from '../vocabulary/session.ts'

const mostAtOnce = 200
const every = 10_000

/** What lost its rows, and whose event is yet to come. */
interface Surplus {
  id: string
  userId: string
  type: 'session' | typeof authorizationType
  reason: EndReason
}

/**
 * Ends sessions and authorizations of these users, or of any user, that made place for newer ones, or are over with what
 * they stand on. Each gets the usual event. Returns their number.
 */
export async function endSurplus({ sql, store }: Pick<Context, 'sql' | 'store'>, userIds?: string[]): Promise<number> {
  const own = userIds === undefined ? sql`` : sql`where user_id = any(${userIds}::text[])`
  const surplus = await orUnavailable(sql<Surplus[]>`
    (select session_id as id, user_id as "userId", 'session' as type, '' as reason from surplus_sessions
      ${own} limit ${mostAtOnce})
    union all
    (select authorization_id, user_id, ${authorizationType}, reason from surplus_authorizations
      ${own} limit ${mostAtOnce})
  `)
  if (surplus.length === 0) return 0
  await Promise.all(
    surplus.map(({ id, userId, type, reason }) =>
      store.execute({
        aggregate: { type, id },
        call: { caller: { ...anonymous, userId }, requestId: `surplus-${type}`, deadline: Date.now() + 30_000 },
        decide: ({ state }: Aggregate<Session | Authorization>) => ({ events: end(state, reason), answer: undefined }),
      }),
    ),
  )
  const idsOf = (of: Surplus['type']) => surplus.filter(({ type }) => type === of).map(({ id }) => id)
  const [sessions, authorizations] = [idsOf('session'), idsOf(authorizationType)]
  await Promise.all([
    sessions.length > 0 && sql`delete from surplus_sessions where session_id = any(${sessions}::text[])`,
    authorizations.length > 0 &&
      sql`delete from surplus_authorizations where authorization_id = any(${authorizations}::text[])`,
  ])
  return surplus.length
}

/** Ends those of a user. Calls of the same moment share the statements. */
export async function endSurplusOf(context: Pick<Context, 'sql' | 'store'>, userId: string): Promise<void> {
  const { sql } = context
  let end = ending.get(sql)
  if (!end)
    ending.set(
      sql,
      (end = batchCalls(
        async (userIds) => {
          await endSurplus(context, userIds)
          return userIds.map(() => {})
        },
        { span: { name: 'end surplus authorizations' } },
      )),
    )
  await end(userId)
}

const ending = new WeakMap<Sql, (userId: string) => Promise<void>>()

function end(state: Session | Authorization | undefined, reason: EndReason): NewEvent[] {
  if (!state || state.ended) return []
  return 'applicationId' in state ? [endOf(state, reason)] : [{ type: 'ended', payload: { userId: state.userId } }]
}

/** Ends what a dead replica or a restore left, and what lost its row since, now and every ten seconds. */
export function startEndingSurplus(context: Context): { stop(): Promise<void> } {
  const failed = (error: unknown) => context.log.warn({ err: error }, 'ending surplus sessions failed')
  return repeat({
    work: async () => ((await endSurplus(context)) >= mostAtOnce ? 'more' : undefined),
    every,
    retryAfter: every,
    failed,
  })
}
