import { RosterError } from '#lib/errors'
import { permissionDenied } from '#lib/rpc/authorize'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import type { Context } from './context.ts'
import { rolesCovered } from './roles-covered.ts'

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
  const { instanceRoles, memberships, projectMemberships } = await context.grants.listMemberships(
    { userId: other, organizationId: '', withInactive: false },
    call,
  )
  const projectRoles = Object.fromEntries(
    [...Map.groupBy(projectMemberships, ({ organizationId }) => organizationId)].map(([organizationId, projects]) => [
      organizationId,
      Object.fromEntries(projects.map(({ projectId, roles }) => [projectId, roles])),
    ]),
  )
  const organizationRoles = Object.fromEntries(memberships.map(({ organizationId, roles }) => [organizationId, roles]))
  const caller = { ...anonymous, userId: other, instanceRoles, organizationRoles, projectRoles }
  try {
    await rolesCovered(context, userId, { ...call, caller })
    return true
  } catch (error) {
    if (error instanceof RosterError && error.reason === permissionDenied().reason) return false
    throw error
  }
}
