import { type PageAnswer, SignInError } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import type { FactorKind } from '../../../sessions/events/session.ts'
import type { KnownProvider } from '../../../sessions/factors/provider/known-providers.ts'
import type { OpenedRequest } from '../opened-request.ts'
import type { RequestState } from '../request-state.ts'
import { beginAtProvider } from './begin-at-provider.ts'

/** What the page of a sign-in would have. */
interface Offered {
  error: SignInError
  factors: readonly FactorKind[]
  providers: readonly KnownProvider[]
  hasPasskeys: boolean
}

/**
 * The provider that a request leads to without a page: the one that the application names, or the only way in that the policy
 * leaves. Once in a request. A page comes all the same where something went wrong, where the person wants another account, and after
 * a sign-out in this browser: whoever is still signed in at the provider would be back at once.
 */
export async function straightTo(
  context: Pick<Context, 'sql'>,
  { row: { progress }, browser }: Pick<OpenedRequest, 'row' | 'browser'>,
  { asked }: Pick<RequestState, 'asked'>,
  { error, factors, providers, hasPasskeys }: Offered,
): Promise<KnownProvider | undefined> {
  const isClean = error === SignInError.SIGN_IN_ERROR_UNSPECIFIED && browser.isPresent
  if (!isClean || progress.asksName || progress.wentStraight) return undefined
  const wanted = providers.find(({ idpId }) => idpId === asked?.idpId)
  if (wanted) return wanted
  const isOnly = factors.includes('provider') && providers.length === 1 && !hasPasskeys
  return isOnly && !(await hasSignedOut(context, browser.id)) ? providers[0] : undefined
}

/** Leads there. */
export function goStraight(
  context: Context,
  opened: OpenedRequest,
  to: { state: RequestState; provider: KnownProvider },
  call: Call,
): Promise<PageAnswer> {
  const { row } = opened
  const progress = { ...row.progress, wentStraight: true }
  return beginAtProvider(
    context,
    { ...opened, row: { ...row, progress } },
    { ...to, keep: progress.keep === true },
    call,
  )
}

// Of late: ten minutes are longer than any way from a sign-out to the next request.
async function hasSignedOut({ sql }: Pick<Context, 'sql'>, browserId: string): Promise<boolean> {
  const rows = await orUnavailable(sql`
    select from browsers where id = ${browserId} and signed_out_at > roster_now() - interval '10 minutes'
  `)
  return rows.length > 0
}
