import { batchCalls } from '#lib/batch-calls'
import { orUnavailable, type Sql } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { NewEvent } from '#lib/eventstore/command'
import { repeat } from '#lib/repeat'
import { anonymous } from '#lib/rpc/caller'
import type { Context } from '../context.ts'
import type { Session } from './events/session.ts'

const mostAtOnce = 200
const every = 10_000

/** A table of what lost its rows, and whose event is yet to come. */
interface SurplusTable<State> {
  /** Of sessions or authorizations, and its column of their ids. */
  table: string
  id: string
  type: string
  /** The event. `reason`: the column of that name, if there is one. */
  endOf(state: State, reason: string | undefined): NewEvent
}

/**
 * Ends what made place for newer ones of its user, or is over with what it stands on. Each gets the usual event.
 */
export function createSurplus<State extends { ended?: boolean | string }>({
  table,
  id,
  type,
  endOf,
}: SurplusTable<State>) {
  const ofUser = new WeakMap<Sql, (userId: string) => Promise<void>>()

  /** Ends those of these users, or of any user. Returns their number. */
  async function end({ sql, store }: Pick<Context, 'sql' | 'store'>, userIds?: string[]): Promise<number> {
    const own = userIds === undefined ? sql`` : sql`where user_id = any(${userIds}::text[])`
    const surplus = await orUnavailable(sql<Record<string, string>[]>`
      select * from ${sql(table)} ${own} limit ${mostAtOnce}
    `)
    if (surplus.length === 0) return 0
    await Promise.all(
      surplus.map(({ [id]: surplusId, user_id: userId, reason }) =>
        store.execute({
          aggregate: { type, id: surplusId! },
          call: {
            caller: { ...anonymous, userId: userId! },
            requestId: `surplus-${type}`,
            deadline: Date.now() + 30_000,
          },
          decide: ({ state }: Aggregate<State>) => ({
            events: state && !state.ended ? [endOf(state, reason)] : [],
            answer: undefined,
          }),
        }),
      ),
    )
    await sql`delete from ${sql(table)} where ${sql(id)} = any(${surplus.map((row) => row[id]!)}::text[])`
    return surplus.length
  }

  return {
    end,

    /** Ends those of a user. Calls of the same moment share the statements. A failure is left to the background. */
    async settle(context: Pick<Context, 'sql' | 'store' | 'log'>, userId: string): Promise<void> {
      const { sql, log } = context
      let endOne = ofUser.get(sql)
      if (!endOne)
        ofUser.set(
          sql,
          (endOne = batchCalls(
            async (userIds) => {
              await end(context, userIds)
              return userIds.map(() => {})
            },
            { span: { name: `end surplus ${type}s` } },
          )),
        )
      await endOne(userId).catch((err: unknown) => log.warn({ err }, `ending surplus ${type}s failed`))
    },

    /** Ends what a dead replica or a restore left, and what lost its row since, now and every ten seconds. */
    start(context: Context): { stop(): Promise<void> } {
      return repeat({
        work: async () => ((await end(context)) >= mostAtOnce ? 'more' : undefined),
        every,
        retryAfter: every,
        failed: (err) => context.log.warn({ err }, `ending surplus ${type}s failed`),
      })
    },
  }
}

export const surplusSessions = createSurplus<Session>({
  table: 'surplus_sessions',
  id: 'session_id',
  type: 'session',
  endOf: ({ userId }) => ({ type: 'ended', payload: { userId } }),
})
