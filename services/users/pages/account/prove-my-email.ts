import type { ProveMyEmailRequest } from '#gen/roster/users/v1/account_service'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { resendEmailCode } from '../../directory/operations/user/resend-email-code.ts'
import { verifyEmail } from '../../directory/operations/user/verify-email.ts'
import { openAccount } from './open-account.ts'

const outcomes: Record<string, string> = {
  CODE_INVALID: 'code-wrong',
  CODE_THROTTLED: 'throttled',
  MAILS_THROTTLED: 'throttled',
  // In another tab.
  EMAIL_ALREADY_VERIFIED: 'address-proved',
}

/** The code itself is the proof, so it needs no fresh factor. */
export async function proveMyEmail(
  context: Context,
  { code: verificationCode, action, ...form }: ProveMyEmailRequest,
  call: Call,
): Promise<PageAnswer> {
  const opened = await openAccount(context, form, '', call)
  if ('answer' in opened) return opened.answer
  const { userId, to } = opened
  try {
    if (action === 'send') {
      await resendEmailCode.handle(context, { userId, verification: undefined }, opened.call)
      return to('', 'address-sent')
    }
    await verifyEmail(context, { userId, verificationCode }, opened.call)
    return to('', 'address-proved')
  } catch (error) {
    const outcome = error instanceof RosterError ? outcomes[error.reason] : undefined
    if (outcome === undefined) throw error
    return to('', outcome)
  }
}
