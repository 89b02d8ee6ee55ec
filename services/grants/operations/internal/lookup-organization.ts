import type {
  LookupOrganizationRequest,
  LookupOrganizationResponse,
  LostDomain,
} from '#gen/roster/grants/v1/internal_service'
import { orUnavailable } from '#lib/database/database'
import type { Context } from '../../context.ts'
import { organizationNotFound } from '../../organizations/organization-not-found.ts'
import { keyKinds } from '../../vocabulary/key-kinds.ts'
import type { Organization } from '../../vocabulary/organization.ts'
import { type OrganizationDomain, verifiedDomains } from '../../vocabulary/organization-domain.ts'

const unasked = { ownedDomain: '', primaryDomain: '', name: '', verifiedDomains: [], lostDomains: [], ownerIds: [] }

export async function lookupOrganization(
  { config, sql, store }: Context,
  { by, withOwners }: LookupOrganizationRequest,
): Promise<LookupOrganizationResponse> {
  if (by?.$case === 'organizationId') {
    const organization = await store.load<Organization>('organization', by.value)
    if (organization && !organization.state.removed) {
      const { name, primaryDomain, ownedDomain, domains } = organization.state
      const isOwned = ownedDomain === primaryDomain
      return {
        organizationId: organization.id,
        ownedDomain: isOwned ? primaryDomain : '',
        primaryDomain,
        name,
        verifiedDomains: verifiedDomains(domains),
        lostDomains: lostDomains(domains, config.DOMAIN_LOST_AFTER),
        ownerIds: withOwners ? await ownersOf(sql, organization.id) : [],
      }
    }
  }
  if (by?.$case === 'primaryDomain') {
    const [found] = await orUnavailable(sql<Pick<LookupOrganizationResponse, 'organizationId'>[]>`
      select aggregate_id as "organizationId" from unique_keys
      where kind = ${keyKinds.primaryDomain} and scope = '' and key = ${by.value}
    `)
    if (found) return { ...unasked, ...found }
  }
  throw organizationNotFound()
}

function lostDomains(domains: OrganizationDomain[] = [], lostAfter: number): LostDomain[] {
  return domains.flatMap(({ domain, verified, lostAt }) => {
    if (lostAt === undefined) return []
    return { domain, verifiedUntil: verified ? new Date(Date.parse(lostAt) + lostAfter * 1000) : undefined }
  })
}

async function ownersOf(sql: Context['sql'], organizationId: string): Promise<string[]> {
  const rows = await orUnavailable(sql<{ userId: string }[]>`
    select user_id as "userId" from memberships
    where organization_id = ${organizationId} and project_id = '' and 'ORG_OWNER' = any(roles)
    order by user_id limit 100
  `)
  return rows.map(({ userId }) => userId)
}
