import type { SetPasswordRequest, SetPasswordResponse } from '#gen/roster/users/v1/password_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { User } from '../../directory/events/user.ts'
import { proofOf, setPassword as ofCaller } from '../../directory/operations/password/set-password.ts'
import { changePassword } from '../../directory/passwords/change-password.ts'
import { administers, notVouched, sessionThatMustChange } from '../login-client-session.ts'

/** As of the user and who administers it; and at a login application, in the sign-in that a password holds up. */
export const setPassword = {
  ...ofCaller,

  async permit(request: SetPasswordRequest, call: Call, holdsPermission: boolean, context: Context): Promise<void> {
    // A login application is asked for a session of the user.
    if (holdsPermission || request.userId === call.caller.userId)
      await ofCaller.permit(request, call, holdsPermission, context)
  },

  async handle(context: Context, request: SetPasswordRequest, call: Call): Promise<SetPasswordResponse> {
    const { userId, newPassword, verification } = request
    if (userId === call.caller.userId) return ofCaller.handle(context, request, call)
    const user = await context.store.load<User>('user', userId)
    if (await administers(call, user?.organizationId)) return ofCaller.handle(context, request, call)
    const { password, changeRequired } = newPassword!
    if (changeRequired) throw notVouched()
    const kept = await sessionThatMustChange(context, userId, call)
    const proof = proofOf(verification) ?? { kind: 'must-change', gone: notVouched() }
    return changePassword(context, { userId, newPassword: password, field: 'newPassword.password', proof, kept }, call)
  },
}
