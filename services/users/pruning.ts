import type { Context } from './context.ts'
import { forgetAttempts } from './attempts.ts'
import { forgetAddresses } from './known-addresses.ts'
import { pruneSessions } from './sessions.ts'
import { forgetUsed } from './single-use.ts'
import { forgetTurns } from './turns.ts'

const every = 10 * 60_000

/**
 * Removes what time has made useless: expired tokens, secrets, codes, assertions and proofs, what was counted in a time that is over,
 * addresses that nobody signs in from any more, and sessions that ended long ago.
 */
export function startPruning({ sql, log }: Context): { stop(): void } {
  const prune = async () => {
    await forgetAttempts(sql)
    await forgetTurns(sql)
    await forgetAddresses(sql)
    await pruneSessions(sql)
    await forgetUsed(sql)
    await sql`delete from tokens where expires_at < now()`
    await sql`delete from machine_secrets where expires_at < now()`
    await sql`delete from unsent_email_codes where expires_at < now()`
  }
  const timer = setInterval(() => prune().catch((error: unknown) => log.warn({ err: error }, 'pruning')), every)
  return { stop: () => clearInterval(timer) }
}
