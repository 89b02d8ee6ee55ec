import type { ChangeMyPasswordRequest } from '#gen/roster/users/v1/account_service'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { changePassword } from '../../directory/passwords/change-password.ts'
import { passwordLengths } from '../../directory/passwords/password-lengths.ts'
import { Superseded } from '../../sessions/browsers/superseded.ts'
import { openAccount } from './open-account.ts'

const outcomes: Record<string, string> = {
  PASSWORD_TOO_COMMON: 'password-common',
  PASSWORDS_THROTTLED: 'throttled',
}

export async function changeMyPassword(
  context: Context,
  { password: newPassword, ...form }: ChangeMyPasswordRequest,
  call: Call,
): Promise<PageAnswer> {
  const opened = await openAccount(context, form, 'password', call)
  if ('answer' in opened) return opened.answer
  const { userId, person, mark, to } = opened
  // It would sign in nobody.
  if (!person.signedInUser.policy.factors.includes('password')) return to('sign-in', 'password-unused')
  const { length } = [...newPassword]
  const { passwordMin, passwordMax } = passwordLengths()
  if (length < passwordMin || length > passwordMax) return to('password', 'password-invalid')
  const change = {
    userId,
    newPassword,
    field: 'password',
    proof: { kind: 'fresh-factor', gone: new Superseded(), mark },
  } as const
  try {
    await changePassword(context, change, opened.call)
    return to('sign-in', 'password-set')
  } catch (error) {
    if (error instanceof Superseded) return opened.page
    const outcome = error instanceof RosterError ? outcomes[error.reason] : undefined
    if (outcome === undefined) throw error
    return to('password', outcome)
  }
}
