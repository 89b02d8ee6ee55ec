import { SignInError } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { refusalOfProvider } from '../../../openid/arrivals/refused.ts'
import type { OpenedRequest } from '../opened-request.ts'

/** What the developers of an application are told. Only the person sees more. */
const reasons: Partial<Record<SignInError, string>> = {
  [SignInError.SIGN_IN_ERROR_PROVIDER_DENIED]: 'denied',
  [SignInError.SIGN_IN_ERROR_PROVIDER_NOT_AVAILABLE]: 'not-available',
  [SignInError.SIGN_IN_ERROR_PROVIDER_INVALID]: 'not-believed',
  [SignInError.SIGN_IN_ERROR_PROVIDER_NOT_FRESH]: 'not-fresh',
  [SignInError.SIGN_IN_ERROR_PROVIDER_REFUSED]: 'refused',
  [SignInError.SIGN_IN_ERROR_PROVIDER_UNKNOWN]: 'unknown',
}

/** Notes among the refusals of the application that nobody came in by a provider, and why. */
export async function noteRefusal(
  { sql, arrivals }: Pick<Context, 'sql' | 'arrivals'>,
  { row: { parameters } }: Pick<OpenedRequest, 'row'>,
  { idpId, error }: { idpId: string; error: SignInError },
  { clientAddress }: Pick<Call, 'clientAddress'>,
): Promise<void> {
  const why = reasons[error]
  if (why === undefined || !parameters.clientId) return
  const [known] = await orUnavailable(sql<{ name: string }[]>`
    select name from identity_providers where idp_id = ${idpId}
  `)
  arrivals.refuse(refusalOfProvider(parameters.clientId, { idpId, name: known?.name ?? idpId }, why), clientAddress)
}
