import type { AddOrganizationRequest, AddOrganizationResponse } from '#gen/roster/grants/v1/organization_service'
import { RosterError } from '#lib/errors'
import { details } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import { v4 as uuid } from 'uuid'
import type { Context } from '../../context.ts'
import { addedOrganization, primaryDomain } from '../../organizations/new-organization.ts'

/** Organizations may share a name, but not a domain: the second one of a name gets a part of its id in its domain. */
export async function addOrganization(
  context: Context,
  { name }: AddOrganizationRequest,
  call: Call,
): Promise<AddOrganizationResponse> {
  const id = uuid()
  const add = (suffix: string) =>
    context.store.execute({
      aggregate: { type: 'organization', id },
      call,
      decide: () => addedOrganization(id, name, primaryDomain(name, context.config.PUBLIC_URL, suffix)),
      respond: ({ after }) => ({ organizationId: id, details: details(after) }),
    })
  return add('').catch((error: unknown) => {
    if (error instanceof RosterError && error.reason === 'ORGANIZATION_DOMAIN_TAKEN') return add(id.slice(0, 8))
    throw error
  })
}
