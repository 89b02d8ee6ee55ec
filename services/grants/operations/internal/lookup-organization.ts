import type { LookupOrganizationRequest, LookupOrganizationResponse } from '#gen/roster/grants/v1/internal_service'
import { orUnavailable } from '#lib/database/database'
import type { Context } from '../../context.ts'
import { organizationNotFound } from '../../organizations/organization-not-found.ts'
import { keyKinds } from '../../vocabulary/key-kinds.ts'
import type { Organization } from '../../vocabulary/organization.ts'

export async function lookupOrganization(
  { sql, store }: Context,
  { by }: LookupOrganizationRequest,
): Promise<LookupOrganizationResponse> {
  if (by?.$case === 'organizationId') {
    const organization = await store.load<Organization>('organization', by.value)
    if (organization && !organization.state.removed) {
      const { name, primaryDomain, ownedDomain } = organization.state
      const isOwned = ownedDomain === primaryDomain
      return { organizationId: organization.id, ownedDomain: isOwned ? primaryDomain : '', primaryDomain, name }
    }
  }
  if (by?.$case === 'primaryDomain') {
    const [found] = await orUnavailable(sql<Pick<LookupOrganizationResponse, 'organizationId'>[]>`
      select aggregate_id as "organizationId" from unique_keys
      where kind = ${keyKinds.primaryDomain} and scope = '' and key = ${by.value}
    `)
    if (found) return { ...found, ownedDomain: '', primaryDomain: '', name: '' }
  }
  throw organizationNotFound()
}
