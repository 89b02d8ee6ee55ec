import type { Violation } from '#lib/errors'
import { coversRole } from '#lib/roles'
import { permissionDenied } from '#lib/rpc/authorize'
import { rolesIn } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import type { Context } from './context.ts'

// Of the last moment that RFC 3339 can tell.
const latest = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Lets pass who holds all that the user holds, wherever the user holds it: whoever makes a credential can do from then on what its
 * user can. The user itself needs no look. PERMISSION_DENIED; errors of the service that is asked.
 */
export async function permitCredential(
  { userId }: { userId: string },
  call: Call,
  _holdsPermission: boolean,
  { grants }: Context,
): Promise<void> {
  const { caller } = call
  if (userId === caller.userId || coversRole(caller.instanceRoles, 'IAM_OWNER')) return
  const { instanceRoles, memberships } = await grants.listMemberships({ userId }, call)
  const held = [{ organizationId: undefined, roles: instanceRoles }, ...memberships]
  const covers = ({ organizationId, roles }: (typeof held)[number]) => {
    const own = rolesIn(caller, organizationId)
    return roles.every((role) => coversRole(own, role))
  }
  if (!held.every(covers)) throw permissionDenied()
}

/** A credential ends in the future, if it ends. */
export function checkExpiry(_context: Context, { expirationDate }: { expirationDate?: Date }): Violation[] {
  const time = expirationDate?.getTime()
  if (time === undefined || (time > Date.now() && time <= latest)) return []
  return [{ field: 'expirationDate', description: 'must be in the future, and before the year 10000' }]
}

/** The end of a credential as events have it. */
export function expiryOf(expirationDate: Date | undefined): { expiresAt?: string } {
  return expirationDate ? { expiresAt: expirationDate.toISOString() } : {}
}
