import { forgetUses } from '#lib/eventstore/forget-uses'
import type { Context } from './context.ts'
import { forgetAttempts } from './sign-in-throttle.ts'
import { forgetUsed } from './single-use.ts'

const every = 10 * 60_000

/** Removes what time has made useless: expired tokens, secrets, codes, assertions and proofs, and sign-in attempts whose window is over. */
export function startPruning({ sql, log }: Context): { stop(): void } {
  const prune = async () => {
    await forgetAttempts(sql)
    await forgetUsed(sql)
    await forgetUses(sql)
    await sql`delete from tokens where expires_at < now()`
    await sql`delete from machine_secrets where expires_at < now()`
    await sql`delete from unsent_email_codes where expires_at < now()`
  }
  const timer = setInterval(() => prune().catch((error: unknown) => log.warn({ err: error }, 'pruning')), every)
  return { stop: () => clearInterval(timer) }
}
