import type { PasskeyPrompt } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { Binding } from '../../sessions/factors/binding.ts'
import type { Owner } from '../../sessions/factors/passkey/options.ts'
import { loadLoginPolicy } from '../../sessions/login-policy/load-login-policy.ts'
import { askForPasskey, ownerOf } from '../../sessions/passkeys/made-passkey.ts'
import { findInvited } from '../invitation/invited.ts'
import { findInvitedUser } from '../invitation/invited-user.ts'
import type { OpenedRequest } from './opened-request.ts'

type Opened = Pick<OpenedRequest, 'row' | 'browser'>

/** What makes a passkey in place of a first password. Undefined: nobody is to choose one here, or none is allowed. */
export async function invitationPrompt(
  context: Context,
  opened: Opened,
  call: Call,
): Promise<PasskeyPrompt | undefined> {
  const { invitation } = opened.row.parameters
  if (!invitation || !(await loadLoginPolicy(context, invitation.organizationId)).allowPasskeys) return undefined
  const owner = await ownerOfInvitation(context, invitation, call)
  if (!owner) return undefined
  const options = await askForPasskey(context, owner, invitationBinding(opened), { secondOnly: false })
  return { options: JSON.stringify(options), unknownCredentialId: '' }
}

// A new person has no name before the names are typed.
async function ownerOfInvitation(
  context: Context,
  invitation: NonNullable<OpenedRequest['row']['parameters']['invitation']>,
  call: Call,
): Promise<Owner | undefined> {
  if (invitation.ofUser) {
    const invited = await findInvitedUser(context, invitation, call)
    return invited && ownerOf(invited.user.state)
  }
  const invited = await findInvited(context, invitation)
  if (!invited || invited.holderId !== undefined) return undefined
  const { email } = invited.invitation
  return { name: email, displayName: email, passkeys: [] }
}

export function invitationBinding({ row, browser }: Opened): Binding {
  const { id, codeId } = row.parameters.invitation!
  return { for: 'invitation', requestId: row.id, browserId: browser.id, id, codeId }
}
