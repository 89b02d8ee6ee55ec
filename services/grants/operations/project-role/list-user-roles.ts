import type { ListUserRolesRequest, ListUserRolesResponse } from '#gen/roster/grants/v1/project_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { effectiveRoles } from '../../effective-roles.ts'
import { visibleProject } from '../../projects/visible-project.ts'

export async function listUserRoles(
  context: Context,
  { projectId, userId }: ListUserRolesRequest,
  call: Call,
): Promise<ListUserRolesResponse> {
  const project = await visibleProject(context, projectId, call.organizationId)
  const isOwner = project.organizationId === call.organizationId
  const counting = await effectiveRoles(context, project, userId, isOwner ? undefined : call.organizationId)
  const grants = counting
    .filter(({ roleKeys }) => roleKeys.length > 0)
    .map((given) => ({ ...given, userGrantId: given.grantId }))
  return { roleKeys: [...new Set(grants.flatMap(({ roleKeys }) => roleKeys))], grants }
}
