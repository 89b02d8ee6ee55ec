import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { readNow } from '#lib/database/database'
import { repeat } from '#lib/repeat'
import type { Service } from '#lib/process'
import { throttled } from '#lib/throttled'
import type { Context } from '../../context.ts'
import { clearUnreadable, erasedUser } from '../states/removed-user.ts'
import type { User, UserEvent } from '../events/user.ts'

const every = 60_000
const mostAtOnce = 100

/** Erases the removed users whose time is over, now and once a minute. Of several replicas, one erases a user. */
export function startDueErasure(context: Context): Service {
  return repeat({
    work: async () => ((await eraseDue(context, await readNow(context.sql))) === mostAtOnce ? 'more' : undefined),
    every,
    retryAfter: every,
    failed: throttled(context.log, 'removed users are not erased, which is tried again'),
  })
}

/** Erases those that are due at this time, a hundred at most. Returns their number. */
export async function eraseDue({ sql, store }: Pick<Context, 'sql' | 'store'>, now: Date): Promise<number> {
  const due = await sql<{ userId: string; cause: string }[]>`
    select user_id as "userId", (
      select 'users-' || position from events e
      where e.aggregate_type = 'user' and e.aggregate_id = f.user_id and e.type = 'removed'
      order by e.sequence desc limit 1
    ) as cause
    from forgettings f where forget_at <= ${now} order by forget_at limit ${mostAtOnce}
  `
  await Promise.all(
    due.map(({ userId, cause }) =>
      store.execute({
        aggregate: { type: 'user', id: userId },
        evenUnreadable: true,
        call: { caller: { userId: '' }, requestId: '', deadline: Date.now() + 30_000, cause },
        decide: (user: Aggregate<User>) => decide(user, now),
      }),
    ),
  )
  return due.length
}

// The removal may have been undone meanwhile.
function decide({ id, state, organizationId, unreadable }: Aggregate<User>, now: Date): Decision<UserEvent> {
  if (unreadable)
    return { events: [{ type: 'forgotten', payload: {} }], writes: clearUnreadable(id), answer: undefined }
  const { former, forgetAt = '' } = state ?? {}
  if (!former || !(Date.parse(forgetAt) <= now.getTime())) return { events: [], answer: undefined }
  return erasedUser(former, organizationId)
}
