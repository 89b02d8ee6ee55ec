import type { FinishProviderSignInResponse } from '#gen/roster/idp/v1/internal_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import type { MatchedRoles } from './provider.ts'

/** Undefined: the provider gives no roles. */
export function matchedRoles({
  roles,
  ownerOrganizationId: organizationId,
}: Pick<FinishProviderSignInResponse, 'roles' | 'ownerOrganizationId'>): MatchedRoles | undefined {
  return roles && organizationId !== '' ? { rowIds: roles.rowIds, organizationId } : undefined
}

/**
 * Tells grants which roles a provider gives a person who has signed in there: before the application gets its code, so that its
 * tokens have them. Errors of grants: without an answer, the person might keep roles that the provider took.
 */
export async function tellGrants(
  { grants }: Pick<Context, 'grants'>,
  user: { userId: string; organizationId: string },
  { idpId, roles, at }: { idpId: string; roles?: MatchedRoles | undefined; at: Date },
  call: Call,
): Promise<void> {
  if (!roles || roles.organizationId !== user.organizationId) return
  const { userId, organizationId } = user
  await grants.setProviderRoles({ idpId, organizationId, userId, rowIds: roles.rowIds, signedInAt: at }, call)
}
