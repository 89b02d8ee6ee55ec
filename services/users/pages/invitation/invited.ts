import type { Context } from '../../context.ts'
import { isOpenInvitation } from '../../directory/events/invitation.ts'
import type { User } from '../../directory/events/user.ts'
import { isOrganizationOpen } from '../../directory/organizations/statuses.ts'
import { findHolder } from '../../directory/login-names/address-holder.ts'
import { findInvitation, type WholeInvitation } from './invitation-rows.ts'

/** An invitation whose code was right, and that is still open. */
export interface Invited {
  invitation: WholeInvitation
  /** The person who may accept it, after signing in. Undefined: a new one, who chooses a password. */
  holderId: string | undefined
}

/**
 * The open invitation of a request. Undefined where it was accepted or revoked, has expired or was sent again, and where its
 * organization is closed.
 */
export async function findInvited(
  context: Context,
  { id, codeId }: { id: string; codeId: string },
): Promise<Invited | undefined> {
  const invitation = await findInvitation(context, id)
  if (!invitation || !isOpenInvitation(invitation.state, invitation.readAt)) return undefined
  const { email, organizationId, state } = invitation
  if (state.link.codeId !== codeId || !(await isOrganizationOpen(context, organizationId))) return undefined
  // The person that this invitation made, where the rest was cut off. Another one may have its id.
  const made = invitation.acceptingId === id ? (await context.store.load<User>('user', id))?.state : undefined
  if (made?.removed) return undefined
  if (made) return { invitation, holderId: id }
  // A link that was not mailed tells its inviter nothing of other organizations.
  const anywhere = state.link.delivery === 'mailed'
  return { invitation, holderId: await findHolder(context, { email, organizationId, anywhere }) }
}
