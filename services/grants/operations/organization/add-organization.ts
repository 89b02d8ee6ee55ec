import type { AddOrganizationRequest, AddOrganizationResponse } from '#gen/roster/grants/v1/organization_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import { v4 as uuid } from 'uuid'
import { refuseTakenId } from '../../chosen-id.ts'
import type { Context } from '../../context.ts'
import { addedOrganization, primaryDomain } from '../../organizations/new-organization.ts'
import type { Organization } from '../../vocabulary/organization.ts'

/** Organizations may share a name, but not a domain: the second one of a name gets a random part in its domain. */
export async function addOrganization(
  context: Context,
  { name, orgId }: AddOrganizationRequest,
  call: Call,
): Promise<AddOrganizationResponse> {
  const made = uuid()
  const id = orgId ?? made
  const add = (suffix: string) =>
    context.store.execute({
      aggregate: { type: 'organization', id },
      creates: true,
      call,
      decide(organization: Aggregate<Organization>) {
        refuseTakenId(organization)
        return addedOrganization(id, name, primaryDomain(name, context.config.PUBLIC_URL, suffix))
      },
      respond: ({ after }) => ({ organizationId: id, details: details(after) }),
    })
  return add('').catch((error: unknown) => {
    if (error instanceof RosterError && error.reason === 'ORGANIZATION_DOMAIN_TAKEN') return add(made.slice(0, 8))
    throw error
  })
}
