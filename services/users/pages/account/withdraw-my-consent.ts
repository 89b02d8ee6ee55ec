import type { WithdrawMyConsentRequest } from '#gen/roster/users/v1/account_service'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { openAccount } from './open-account.ts'
import type { Context } from '../../context.ts'
import { withdrawConsent } from '../../openid/consents/withdraw-consent.ts'

export async function withdrawMyConsent(
  context: Context,
  request: WithdrawMyConsentRequest,
  call: Call,
): Promise<PageAnswer> {
  const opened = await openAccount(context, request, 'apps', call)
  if ('answer' in opened) return opened.answer
  const { userId, call: own, page } = opened
  try {
    await withdrawConsent.handle(context, { userId, applicationId: request.applicationId }, own)
  } catch (error) {
    // It was taken back before: the page says what is so.
    if (!(error instanceof RosterError) || error.reason !== 'CONSENT_NOT_FOUND') throw error
  }
  return page
}
