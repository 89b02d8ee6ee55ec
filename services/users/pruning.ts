import { deleteInPortions } from '#lib/database/delete-in-portions'
import { deleteUses } from '#lib/database/delete-in-portions'
import { deleteArrivals } from './openid/arrivals/arrival-rows.ts'
import { pruneAuthorizations } from './openid/authorization/prune-authorizations.ts'
import { deleteRequests } from './openid/request/request-row.ts'
import { deleteBrowsers } from './sessions/browsers/session-cookie.ts'
import { deleteIntents } from './sessions/intents/intent-rows.ts'
import { deleteKnownBrowsers } from './sessions/browsers/known-browsers.ts'
import type { Context } from './context.ts'
import { deleteAddresses } from './directory/rate-limits/known-addresses.ts'
import { deleteProviderSessions } from './sessions/factors/provider/provider-sessions.ts'
import { pruneSessions } from './sessions/sessions.ts'
import { deleteInvitations } from './pages/invitation/invitation-rows.ts'
import { deleteUsed } from './directory/secrets/single-use.ts'
import { deleteRecords } from './sessions/records/sign-in-records.ts'
import { deleteFullBuckets } from './directory/rate-limits/token-buckets.ts'

const every = 10 * 60_000

/**
 * Removes data that time has made useless. These are expired tokens, secrets, codes, assertions and proofs, and
 * counts of past times. Also addresses that are no longer signed in from, records of sign-ins, and sessions that ended long ago.
 */
export function startPruning(context: Context): { stop(): void } {
  const { sql, log } = context
  const prune = async () => {
    await deleteAddresses(sql)
    await pruneSessions(sql)
    await pruneAuthorizations(sql)
    await deleteUsed(sql)
    await deleteUses(sql)
    await deleteRequests(sql)
    await deleteKnownBrowsers(sql)
    await deleteInvitations(sql)
    await deleteIntents(sql)
    await deleteBrowsers(sql)
    await deleteRecords(context)
    await deleteArrivals(sql)
    await deleteProviderSessions(sql)
    for (const table of [
      'tokens',
      'half_done_sessions',
      'machine_secrets',
      'unsent_email_codes',
      'unsent_mails',
      'secrets',
    ])
      await deleteInPortions(sql, table, sql`expires_at < roster_now()`)
  }
  const warn = (error: unknown) => log.warn({ err: error }, 'pruning failed')
  const timers = [
    setInterval(() => prune().catch(warn), every),
    // A caller who makes up names leaves one row for every failure, so this runs often.
    setInterval(() => deleteFullBuckets(sql).catch(warn), 60_000),
  ]
  return { stop: () => timers.forEach(clearInterval) }
}
