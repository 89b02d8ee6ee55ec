import { RosterError } from '#lib/errors'
import { permissionDenied } from '#lib/rpc/authorize'
import { anonymous, withRoles } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { membershipsIn, rolesThere } from '../roles-there.ts'
import type { Context } from './context.ts'
import { rolesCovered } from './may-act-on.ts'

/**
 * Whether the roles that each of these users holds today cover the roles of a user. What somebody did for a user
 * counts no more once the user got a role beyond theirs. Nobody, and the user itself, always count.
 */
export async function stillCover(
  context: Context,
  others: (string | undefined)[],
  userId: string,
  call: Call,
): Promise<boolean> {
  for (const other of new Set(others))
    if (other !== undefined && other !== userId && !(await covers(context, other, userId, call))) return false
  return true
}

async function covers(context: Context, other: string, userId: string, call: Call): Promise<boolean> {
  const asToday = async (organizationId: string) => {
    const held = await context.grants.listMemberships(membershipsIn(other, organizationId), call)
    const caller = { ...anonymous, userId: other, instanceRoles: held.instanceRoles }
    return withRoles(caller, organizationId, rolesThere(held, organizationId))
  }
  try {
    await rolesCovered(context, userId, call, asToday)
    return true
  } catch (error) {
    if (error instanceof RosterError && error.reason === permissionDenied().reason) return false
    throw error
  }
}
