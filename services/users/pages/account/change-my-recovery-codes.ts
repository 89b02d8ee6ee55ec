import type { ChangeMyRecoveryCodesRequest } from '#gen/roster/users/v1/account_service'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { generateRecoveryCodes } from '../../sessions/operations/factors/generate-recovery-codes.ts'
import { removeRecoveryCodes } from '../../sessions/operations/factors/remove-recovery-codes.ts'
import { openAccount } from './open-account.ts'
import { answerOf } from './show-account.ts'

const outcomes: Record<string, string> = {
  // In another tab.
  FACTOR_NOT_FOUND: 'codes-removed',
  FACTOR_NOT_AVAILABLE: 'codes-refused',
  MAILBOX_ALONE: 'factor-refused',
}

/** New codes are the answer itself: they are kept nowhere for a page that comes after it. */
export async function changeMyRecoveryCodes(
  context: Context,
  { action, ...form }: ChangeMyRecoveryCodesRequest,
  call: Call,
): Promise<PageAnswer> {
  const opened = await openAccount(context, form, 'recovery-codes', call)
  if ('answer' in opened) return opened.answer
  const { userId, person, to } = opened
  try {
    if (action === 'remove') {
      await removeRecoveryCodes.handle(context, { userId }, opened.call)
      return to('sign-in', 'codes-removed')
    }
    const { recoveryCodes } = await generateRecoveryCodes.handle(context, { userId }, opened.call)
    return answerOf(context, person, { section: 'recovery-codes', uiLocales: form.uiLocales, recoveryCodes }, call)
  } catch (error) {
    const outcome = error instanceof RosterError ? outcomes[error.reason] : undefined
    if (outcome === undefined) throw error
    return to('sign-in', outcome)
  }
}
