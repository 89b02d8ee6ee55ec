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
import { createLink } from '../../passkeys/link.ts'

export const createPasskeyRegistrationLink = {
  /** Who sees the code can sign in as the user: as SetEmail of another user. */
  async permit(
    { userId }: CreatePasskeyRegistrationLinkRequest,
    call: Call,
    _holdsPermission: boolean,
    context: Context,
  ): Promise<void> {
    if (userId === call.caller.userId) throw permissionDenied()
    await requireMayActOn(context, userId, call)
  },

  check({ config }: Context, { medium }: CreatePasskeyRegistrationLinkRequest): Violation[] {
    const template = medium?.$case === 'sendLink' ? medium.value.urlTemplate : undefined
    if (template === undefined) return []
    // Every caller holds user.write.
    const known = template.replaceAll('{{.CodeID}}', '{{.OrgID}}')
    return checkTemplate(known, linkTargets(config, true), 'sendLink.urlTemplate')
  },

  async handle(
    context: Context,
    { userId, medium }: CreatePasskeyRegistrationLinkRequest,
    call: Call,
  ): Promise<CreatePasskeyRegistrationLinkResponse> {
    const user = await context.store.load<User>('user', userId)
    existing(user?.state)
    const how = medium?.$case === 'returnCode' ? 'return' : { urlTemplate: medium?.value.urlTemplate }
    return createLink(context, { userId, organizationId: user!.organizationId, how }, call)
  },
}
