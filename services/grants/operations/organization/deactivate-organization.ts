import type {
  DeactivateOrganizationRequest,
  DeactivateOrganizationResponse,
} from '#gen/roster/grants/v1/organization_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { endOrganization } from './end-organization.ts'

export async function deactivateOrganization(
  context: Context,
  _request: DeactivateOrganizationRequest,
  call: Call,
): Promise<DeactivateOrganizationResponse> {
  return endOrganization(context, call.organizationId, call, ({ inactive }) => {
    if (inactive)
      throw new RosterError(
        'FAILED_PRECONDITION',
        'ORGANIZATION_ALREADY_INACTIVE',
        'The organization is deactivated already.',
      )
    return { events: [{ type: 'deactivated', payload: {} }], answer: undefined }
  })
}
