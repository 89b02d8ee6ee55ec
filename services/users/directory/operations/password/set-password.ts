import type { SetPasswordRequest, SetPasswordResponse } from '#gen/roster/users/v1/password_service'
import type { Violation } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { refuseBesideFormer } from '#lib/schema/releases'
import type { Context } from '../../../context.ts'
import { changePassword, type PasswordProof } from '../../passwords/change-password.ts'
import { countGuess } from '../../passwords/current-password.ts'
import { requireMayActOn } from '../../may-act-on.ts'

export const setPassword = {
  permit: ({ userId }: SetPasswordRequest, call: Call, _holdsPermission: boolean, context: Context): Promise<void> =>
    requireMayActOn(context, userId, call),

  // Otherwise a stolen session would be enough to keep its owner out, also that of an administrator.
  check(_context: Context, { userId, newPassword, verification }: SetPasswordRequest, { caller }: Call): Violation[] {
    const isOwn = userId === caller.userId
    const refuse = (field: string, description: string): Violation => ({ field, description })
    return [
      ...(isOwn && !verification
        ? [refuse('currentPassword', 'or a verificationCode is needed for the own password')]
        : []),
      ...(newPassword?.changeRequired && (isOwn || verification)
        ? [refuse('newPassword.changeRequired', 'must not be set by whoever the password is for')]
        : []),
    ]
  },

  /** A replayed request may be a guess, so it counts like any other. */
  beforeReplay: async (context: Context, { userId, verification }: SetPasswordRequest, call: Call) =>
    verification?.$case === 'currentPassword' ? (await countGuess(context, userId, call)).takeBack : undefined,

  async handle(context: Context, request: SetPasswordRequest, call: Call): Promise<SetPasswordResponse> {
    const { userId, newPassword, verification } = request
    const { password, changeRequired } = newPassword!
    // That one would let in by it.
    if (changeRequired) await refuseBesideFormer(context.sql)
    const change = {
      userId,
      newPassword: password,
      field: 'newPassword.password',
      changeRequired: changeRequired === true,
    }
    return changePassword(context, { ...change, proof: proofOf(verification) }, call)
  },
}

/** The proof of a request. */
export function proofOf(verification: SetPasswordRequest['verification']): PasswordProof | undefined {
  if (verification?.$case === 'verificationCode') return { kind: 'code', code: verification.value }
  return verification && { kind: 'password', password: verification.value, field: 'currentPassword' }
}
