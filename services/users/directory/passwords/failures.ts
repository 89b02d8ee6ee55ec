import type { Aggregate } from '#lib/eventstore/aggregate'
import { orUnavailable } from '#lib/database/database'
import type { Decision } from '#lib/eventstore/command'
import { repeat } from '#lib/repeat'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { throttled } from '#lib/throttled'
import type { Context } from '../../context.ts'
import { type SignIn, type SignInEvent, signInType } from '../events/sign-in.ts'
import { userKey } from '../events/user.ts'
import type { LoginUser } from '../login-names/login-user.ts'
import { isActive } from '../states/user-state.ts'

const countFor = 60
const workFor = 30_000
const every = 5_000
const mostAtOnce = 500

/** Records a failed sign-in of a human after the answer, so that the time of the answer reveals nothing of the user. */
export function recordLater(context: Context, lane: string, user: LoginUser | undefined, call: Call): void {
  if (!user?.state.human) return
  context.failureCounts.note(user.userId, isActive(user.state) ? 'password-wrong' : 'user-not-active')
  context.afterResponse.run(lane, () => recordFailure(context, user, call.requestId))
  if (isActive(user.state)) context.afterResponse.run(lane, () => context.lockAfterWrong(user, call.requestId))
}

/** Counts a failed sign-in. The first one of a minute is an event. */
export async function recordFailure(context: Context, user: LoginUser, requestId: string): Promise<void> {
  const { sql } = context
  for (const end = Date.now() + workFor; Date.now() < end;) {
    const counted = await orUnavailable(sql`
      update failed_sign_ins set count = count + 1 where user_id = ${user.userId} and not closed
    `)
    if (counted.count > 0 || (await record(context, user.userId, requestId, (signIns) => first(user, signIns)))) return
    // A replica was about to record the count, and may have died.
    await recordCount(context, user.userId)
  }
}

/** Records the counts of the minutes that are over, now and every five seconds. */
export function startCountingFailures(context: Context): { stop(): Promise<void> } {
  const failed = throttled(context.log, 'failed sign-ins are not recorded')
  return repeat({ work: () => recordCounts(context), every, retryAfter: every, failed })
}

/** Of at most 500 users. */
export async function recordCounts(context: Context): Promise<void> {
  const due = await context.sql<{ id: string }[]>`
    select user_id as id from failed_sign_ins where since <= roster_now() - make_interval(secs => ${countFor})
    order by since limit ${mostAtOnce}
  `
  await Promise.all(due.map(({ id }) => recordCount(context, id)))
}

async function recordCount(context: Context, userId: string): Promise<void> {
  const { sql } = context
  const [row] = await orUnavailable(sql<{ sequence: string; since: Date; count: number }[]>`
    update failed_sign_ins set closed = true
    where user_id = ${userId} and (closed or since <= roster_now() - make_interval(secs => ${countFor}))
    returning sequence, since, count
  `)
  if (!row) return
  const payload = { count: row.count, since: row.since.toISOString() }
  // Another replica may have recorded it already, and the next failure as well.
  await record(context, userId, 'failed-sign-ins', ({ sequence }) =>
    sequence === Number(row.sequence)
      ? { events: [{ type: 'failures.counted', payload }], answer: undefined }
      : nothing,
  )
  await orUnavailable(sql`
    delete from failed_sign_ins where user_id = ${userId} and closed and sequence = ${row.sequence}
  `)
}

function first({ userId, organizationId }: LoginUser, { state, sequence }: Aggregate<SignIn>): Decision<SignInEvent> {
  if (state?.isFailing) return nothing
  return {
    organizationId,
    events: [{ type: 'failed', payload: {} }],
    writes: [
      (sql) => sql`
        insert into failed_sign_ins (user_id, sequence, since) values (${userId}, ${sequence + 1}, roster_now())
        on conflict (user_id) do update
        set sequence = excluded.sequence, since = excluded.since, count = 1, closed = false
      `,
    ],
    answer: undefined,
  }
}

const nothing: Decision<SignInEvent> = { events: [], answer: undefined }

// Whether an event was recorded, or the user is gone.
function record(
  { store }: Context,
  userId: string,
  requestId: string,
  decide: (signIns: Aggregate<SignIn>) => Decision<SignInEvent>,
): Promise<boolean> {
  let isDone = false
  return store.execute({
    aggregate: { type: signInType, id: userId },
    reads: { user: userKey(userId) },
    call: { caller: anonymous, requestId, deadline: Date.now() + workFor },
    decide(signIns: Aggregate<SignIn>, _now, { user }) {
      const isGone = user.state?.human === undefined
      const decision = isGone ? nothing : decide(signIns)
      isDone = isGone || decision.events.length > 0
      return decision
    },
    respond: () => isDone,
  })
}
