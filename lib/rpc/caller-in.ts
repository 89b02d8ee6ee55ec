import { type Caller, withRoles } from './caller.ts'
import type { Call } from './headers.ts'

/** The caller of a call, with its roles in this organization too. Throws the errors of the service that knows them. */
export async function callerIn(call: Call, organizationId: string): Promise<Caller> {
  const { caller, rolesIn } = call
  // Validation of the id may come later. No database can hold this one.
  if (!rolesIn || hasAllRolesIn(call, organizationId) || organizationId.includes('\0')) return caller
  return withRoles(caller, organizationId, await rolesIn(organizationId))
}

/** Whether the caller came with all its roles in the organization. */
export function hasAllRolesIn(
  { caller, organizationId: acting }: Pick<Call, 'caller' | 'organizationId'>,
  organizationId: string,
): boolean {
  return caller.hasRole !== true || organizationId === caller.organizationId || organizationId === acting
}
