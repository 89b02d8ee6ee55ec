import type { CheckProviderRolesRequest, CheckProviderRolesResponse } from '#gen/roster/grants/v1/internal_service'
import type { Context } from '../../context.ts'
import { callOf, checkGrants, permitGrants } from './givable-roles.ts'

/** Idp calls it before it stores the table of a provider. */
export async function checkProviderRoles(
  context: Context,
  { callerId, organizationId, grants }: CheckProviderRolesRequest,
): Promise<CheckProviderRolesResponse> {
  const { caller } = await callOf(context, callerId, organizationId)
  permitGrants(caller, organizationId, grants)
  await checkGrants(context, organizationId, grants)
  return {}
}
