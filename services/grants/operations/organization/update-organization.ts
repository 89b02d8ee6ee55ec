import type { UpdateOrganizationRequest, UpdateOrganizationResponse } from '#gen/roster/grants/v1/organization_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { existingOrganization } from '../../organizations/active-organization.ts'
import type { Organization, OrganizationEvent } from '../../vocabulary/organization.ts'

export async function updateOrganization(
  { store }: Context,
  { name }: UpdateOrganizationRequest,
  call: Call,
): Promise<UpdateOrganizationResponse> {
  return store.execute({
    aggregate: { type: 'organization', id: call.organizationId },
    call,
    decide(aggregate: Aggregate<Organization>): Decision<OrganizationEvent> {
      const organization = existingOrganization(aggregate)
      if (name === undefined || name === organization.name) return { events: [], answer: undefined }
      return { events: [{ type: 'changed', payload: { name } }], answer: undefined }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
