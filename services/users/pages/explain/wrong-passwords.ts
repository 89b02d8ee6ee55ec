import type { WrongPasswords } from '#gen/roster/users/v1/session_service'
import { orUnavailable } from '#lib/database/database'
import type { Context } from '../../context.ts'
import { type SignInEvent, signInType } from '../../directory/events/sign-in.ts'

/** The newest minutes with wrong passwords that are counted. */
const mostMinutes = 100

/**
 * The wrong passwords of a user within 24 hours. Events count them by the minute, and a row those of the present one.
 * UNAVAILABLE STORE_UNAVAILABLE.
 */
export async function findWrongPasswords({ sql }: Context, userId: string): Promise<WrongPasswords | undefined> {
  const [events, [open]] = await Promise.all([
    orUnavailable(sql<(SignInEvent & { sequence: string; at: Date })[]>`
      select type, payload, sequence, created_at as at from events
      where aggregate_type = ${signInType} and aggregate_id = ${userId}
        and created_at > roster_now() - interval '24 hours'
      order by sequence desc limit ${2 * mostMinutes}
    `),
    orUnavailable(sql<{ count: number; sequence: string }[]>`
      select count, sequence from failed_sign_ins where user_id = ${userId}
    `),
  ])
  const failed = events.find(({ type }) => type === 'failed')
  const counted = events.reduce(
    (sum, { type, payload }) => (type === 'failures.counted' ? sum + payload.count : sum),
    0,
  )
  // The present minute has its event, and no count yet.
  const isOpen = open && events[0]?.type === 'failed' && events[0].sequence === open.sequence
  const count = counted + (isOpen ? open.count : 0)
  return count === 0 ? undefined : { count, lastDate: failed?.at }
}
