import { RosterError } from '#lib/errors'
import { evenUnreadable } from '#lib/eventstore/aggregate'
import { instance } from '#lib/instance'
import { permissionDenied } from '#lib/rpc/authorize'
import { anonymous, type Caller, rolesIn, withRoles } from '#lib/rpc/caller'
import { callerIn } from '#lib/rpc/caller-in'
import type { ServiceCall } from '#lib/rpc/call'
import type { Call } from '#lib/rpc/headers'
import { coversRole } from '#lib/rpc/roles'
import { membershipsIn, rolesThere } from '../../roles-there.ts'
import type { Context } from '../context.ts'
import type { User } from './events/user.ts'

/**
 * Whether the caller may act on a user: PERMISSION_DENIED where the user holds a permission that the caller lacks. A
 * caller who controls an address could reset the user's password. Every user may change the own address. A user who
 * does not exist holds no permission.
 */
export async function requireMayActOn(context: Context, userId: string, call: Call): Promise<void> {
  // Validation of the id comes later.
  if (call.caller.userId === userId || userId.includes('\0')) return
  // The administrator's role covers every other, so nothing need be compared.
  if (coversRole(call.caller.instanceRoles, instance.administratorRole)) return
  await requireRolesCovered(context, userId, call)
}

/** As `requireCovered`, by the roles of the caller. */
export function requireRolesCovered(context: Roles, userId: string, call: Call): Promise<string[]> {
  return requireCovered(context, userId, call, (organizationId) => callerIn(call, organizationId))
}

type Roles = Pick<Context, 'store' | 'grants'>

/**
 * The roles of a user on the instance and in its own organization. PERMISSION_DENIED where the caller's do not cover
 * them, or those in projects of that organization. Roles elsewhere do not count: otherwise any organization could give
 * the user a role, and so shield it from those who answer for it. `findCaller` gives the caller with its roles in an
 * organization.
 */
async function requireCovered(
  { store, grants }: Roles,
  userId: string,
  call: ServiceCall,
  findCaller: (organizationId: string) => Caller | Promise<Caller>,
): Promise<string[]> {
  const user = await evenUnreadable(store.load<User>('user', userId))
  if (!user || (user.state?.removed && !user.state.former)) return []
  const { organizationId: home } = user
  const [caller, held] = await Promise.all([
    findCaller(home),
    // Roles in a deactivated organization may come back, so they protect their holders meanwhile.
    grants.listMemberships({ ...membershipsIn(userId, home), withInactive: true }, call),
  ])
  const { instanceRoles } = held
  const { roles = [], projects = {} } = rolesThere(held, home)
  // Whatever a user may do, it may do to itself; a page asks without the roles.
  if (caller.userId === userId) return [...instanceRoles, ...roles]
  const places = [
    { organizationId: undefined, projectId: undefined, roles: instanceRoles },
    { organizationId: home, projectId: undefined, roles },
    ...Object.entries(projects).map(([projectId, given]) => ({ organizationId: home, projectId, roles: given })),
  ]
  for (const place of places) {
    const own = rolesIn(caller, place.organizationId, place.projectId)
    if (!place.roles.every((role) => coversRole(own, role))) throw permissionDenied()
  }
  return [...instanceRoles, ...roles]
}

/**
 * Whether the roles that each of these users holds today cover the roles of a user. What a user did for another
 * counts no more once the user got a role beyond theirs. `undefined`, and the user itself, always count.
 */
export async function mayStillActOn(
  context: Roles,
  others: (string | undefined)[],
  userId: string,
  call: ServiceCall,
): Promise<boolean> {
  for (const other of new Set(others))
    if (other !== undefined && other !== userId && !(await covers(context, other, userId, call))) return false
  return true
}

async function covers(context: Roles, other: string, userId: string, call: ServiceCall): Promise<boolean> {
  const asToday = async (organizationId: string) => {
    const held = await context.grants.listMemberships(membershipsIn(other, organizationId), call)
    const caller = { ...anonymous, userId: other, instanceRoles: held.instanceRoles }
    return withRoles(caller, organizationId, rolesThere(held, organizationId))
  }
  try {
    await requireCovered(context, userId, call, asToday)
    return true
  } catch (error) {
    if (error instanceof RosterError && error.reason === permissionDenied().reason) return false
    throw error
  }
}
