import { forgetUses } from '#lib/eventstore/forget-uses'
import type { Context } from './context.ts'
import { forgetAddresses } from './throttles/known-addresses.ts'
import { pruneSessions } from './sign-in/sessions.ts'
import { forgetUsed } from './oauth/single-use.ts'
import { forgetTurns } from './throttles/turns.ts'

const every = 10 * 60_000

/**
 * Removes what time has made useless: expired tokens, secrets, codes, assertions and proofs, what was counted in a time that is over,
 * addresses that nobody signs in from any more, and sessions that ended long ago.
 */
export function startPruning({ sql, log }: Context): { stop(): void } {
  const prune = async () => {
    await forgetAddresses(sql)
    await pruneSessions(sql)
    await forgetUsed(sql)
    await forgetUses(sql)
    // What replicas of an earlier version count.
    await sql`delete from sign_in_attempts where window_end < now()`
    await sql`delete from tokens where expires_at < now()`
    await sql`delete from machine_secrets where expires_at < now()`
    await sql`delete from unsent_email_codes where expires_at < now()`
  }
  const warn = (error: unknown) => log.warn({ err: error }, 'pruning')
  const timers = [
    setInterval(() => prune().catch(warn), every),
    // Whoever makes up names leaves one for every failure.
    setInterval(() => forgetTurns(sql).catch(warn), 60_000),
  ]
  return { stop: () => timers.forEach(clearInterval) }
}
