import type { GetMyPermissionsRequest, GetMyPermissionsResponse } from '#gen/roster/grants/v1/user_grant_service'
import type { Call } from '#lib/rpc/headers'
import { permissionsIn } from '#lib/rpc/permissions-in'
import type { Context } from '../../context.ts'

export async function getMyPermissions(
  _context: Context,
  { projectId }: GetMyPermissionsRequest,
  { caller, organizationId }: Call,
): Promise<GetMyPermissionsResponse> {
  return {
    permissions: permissionsIn(caller, organizationId, projectId || undefined),
    // In no organization: only roles on the instance reach there.
    instancePermissions: permissionsIn(caller, ''),
  }
}
