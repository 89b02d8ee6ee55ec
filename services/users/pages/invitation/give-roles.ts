import { codes, RosterError } from '#lib/errors'
import { permissionDenied } from '#lib/rpc/authorize'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { Invitation } from '../../directory/events/invitation.ts'
import type { User } from '../../directory/events/user.ts'
import { isOrganizationOpen } from '../../directory/organizations/statuses.ts'
import { isActive } from '../../directory/states/user-state.ts'

/**
 * Gives the roles of an invitation on behalf of its inviter, who must be able to give them now: users asks for who the
 * inviter is, grants for what the inviter holds. Repeated, it changes nothing. Without a user it only checks.
 * PERMISSION_DENIED, and the errors of GiveInvitedRoles.
 */
export async function giveRoles(
  context: Pick<Context, 'store' | 'grants'>,
  { organizationId, state: { link, grants, organizationRoles } }: { organizationId: string; state: Invitation },
  userId: string,
  { requestId, deadline }: Pick<Call, 'requestId' | 'deadline'>,
): Promise<void> {
  const { inviterId } = link
  const inviter = await context.store.load<User>('user', inviterId)
  if (!isActive(inviter?.state) || !(await isOrganizationOpen(context, inviter!.organizationId)))
    throw permissionDenied()
  const asked = { inviterId, organizationId, userId, grants, organizationRoles }
  await context.grants.giveInvitedRoles(asked, { requestId, deadline })
}

/** Whether an error says that it may not be done, and not that it could not be done now. */
export function isRefusal(error: unknown): error is RosterError {
  return error instanceof RosterError && refusals.has(error.code)
}

const refusals = new Set<number>([
  codes.INVALID_ARGUMENT,
  codes.NOT_FOUND,
  codes.ALREADY_EXISTS,
  codes.PERMISSION_DENIED,
  codes.FAILED_PRECONDITION,
  codes.RESOURCE_EXHAUSTED,
])
