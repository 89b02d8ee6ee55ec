import type {
  CreatePasskeyRegistrationLinkRequest,
  CreatePasskeyRegistrationLinkResponse,
} from '#gen/roster/users/v1/user_service'
import type { Violation } from '#lib/errors'
import { permissionDenied } from '#lib/rpc/authorize'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { checkTemplate, linkTargets } from '../../../directory/email/link.ts'
import type { User } from '../../../directory/events/user.ts'
import { requireMayActOn } from '../../../directory/may-act-on.ts'
import { existing } from '../../../directory/states/user-state.ts'
import { administers, requireVouchedPasskey } from '../../login-client-session.ts'
import { createLink } from '../../passkeys/link.ts'

export const createPasskeyRegistrationLink = {
  /** Who sees the code can sign in as the user: as SetEmail of another user. A login application needs a session of the user. */
  async permit(
    { userId, medium }: CreatePasskeyRegistrationLinkRequest,
    call: Call,
    holdsPermission: boolean,
    context: Context,
  ): Promise<void> {
    if (userId === call.caller.userId) throw permissionDenied()
    if (holdsPermission) await requireMayActOn(context, userId, call)
    else if (medium?.$case !== 'returnCode') throw permissionDenied()
  },

  check({ config }: Context, { medium }: CreatePasskeyRegistrationLinkRequest): Violation[] {
    const template = medium?.$case === 'sendLink' ? medium.value.urlTemplate : undefined
    if (template === undefined) return []
    // Every caller who has one mailed holds user.write.
    const known = template.replaceAll('{{.CodeID}}', '{{.OrgID}}')
    return checkTemplate(known, linkTargets(config, true), 'sendLink.urlTemplate')
  },

  async handle(
    context: Context,
    { userId, medium }: CreatePasskeyRegistrationLinkRequest,
    call: Call,
  ): Promise<CreatePasskeyRegistrationLinkResponse> {
    const user = await context.store.load<User>('user', userId)
    const isVouched = !(await administers(call, user?.organizationId))
    if (isVouched) await requireVouchedPasskey(context, userId, call)
    existing(user?.state)
    const how =
      medium?.$case === 'returnCode' ? (isVouched ? 'vouched' : 'return') : { urlTemplate: medium?.value.urlTemplate }
    return createLink(context, { userId, organizationId: user!.organizationId, how }, call)
  },
}
