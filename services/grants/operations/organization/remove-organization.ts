import type { RemoveOrganizationRequest, RemoveOrganizationResponse } from '#gen/roster/grants/v1/organization_service'
import { RosterError } from '#lib/errors'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { endOrganization } from './end-organization.ts'
import { keysOfOrganization } from '../../organizations/own-domain.ts'

/** All that it has goes after it: see `startCascades`. */
export async function removeOrganization(
  context: Context,
  { orgId }: RemoveOrganizationRequest,
  call: Call,
): Promise<RemoveOrganizationResponse> {
  return endOrganization(context, orgId, call, (organization) => {
    if (orgId === instance.organization.id)
      throw new RosterError('FAILED_PRECONDITION', 'ORGANIZATION_IS_FIRST', 'The first organization stays.')
    return { releases: keysOfOrganization(organization), events: [{ type: 'removed', payload: {} }], answer: undefined }
  })
}
