import { evenUnreadable } from '#lib/eventstore/aggregate'
import { instance } from '#lib/instance'
import { permissionDenied } from '#lib/rpc/authorize'
import { rolesIn } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { coversRole } from '#lib/rpc/roles'
import type { Context } from './context.ts'
import type { User } from './vocabulary/user.ts'

/**
 * PERMISSION_DENIED where the user holds a permission that the caller lacks. A caller who controls an address could
 * reset the user's password. Every user may change the own address. A user who does not exist holds no permission.
 */
export async function permitAddressOf(context: Context, userId: string, call: Call): Promise<void> {
  // Validation of the id comes later.
  if (call.caller.userId === userId || userId.includes('\0')) return
  // The administrator's role covers every other, so nothing need be compared.
  if (coversRole(call.caller.instanceRoles, instance.administratorRole)) return
  await rolesCovered(context, userId, call)
}

/**
 * The roles of a user on the instance and in its own organization. PERMISSION_DENIED where the caller's do not cover
 * them, or those in projects of that organization.
 *
 * Roles in other organizations do not count against the administrators of the user's own organization. Otherwise
 * another organization could give the user a role and so lock them out. They count against every other caller.
 */
export async function rolesCovered({ store, grants }: Context, userId: string, call: Call): Promise<string[]> {
  const user = await evenUnreadable(store.load<User>('user', userId))
  if (!user || (user.state?.removed && !user.state.former)) return []
  const { caller } = call
  const { organizationId: home } = user
  const { instanceRoles, memberships, projectMemberships } = await grants.listMemberships(
    // Roles in a deactivated organization may come back, so they protect their holders meanwhile.
    { userId, organizationId: '', withInactive: true },
    call,
  )
  const counts = ({ organizationId }: { organizationId: string }) =>
    organizationId === home || !Object.hasOwn(caller.organizationRoles, home)
  const places = [
    { organizationId: undefined, projectId: undefined, roles: instanceRoles },
    ...memberships.filter(counts).map((membership) => ({ ...membership, projectId: undefined })),
    ...projectMemberships.filter(counts),
  ]
  for (const { organizationId, projectId, roles } of places) {
    const held = rolesIn(caller, organizationId, projectId)
    if (!roles.every((role) => coversRole(held, role))) throw permissionDenied()
  }
  return [
    ...instanceRoles,
    ...memberships.filter(({ organizationId }) => organizationId === home).flatMap(({ roles }) => roles),
  ]
}
