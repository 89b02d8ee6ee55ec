import type { LookupOrganizationRequest } from '#gen/roster/grants/v1/internal_service'
import { RosterError } from '#lib/errors'
import type { ServiceCall } from '#lib/rpc/call'
import type { Context } from '../../context.ts'

/** The organization with this primary domain, by its id; undefined where there is none. */
export async function lookupDomain(
  grants: Context['grants'],
  domain: string,
  call: ServiceCall,
): Promise<string | undefined> {
  return (await lookup(grants, { $case: 'primaryDomain', value: domain.toLowerCase() }, call))?.organizationId
}

/** The primary domain of an organization; undefined where it is removed. */
export async function domainOf(
  grants: Context['grants'],
  organizationId: string,
  call: ServiceCall,
): Promise<string | undefined> {
  return (await lookupById(grants, organizationId, call))?.primaryDomain
}

/** What grants says of an organization; undefined where it is removed. */
export async function lookupById(
  grants: Context['grants'],
  organizationId: string,
  call: ServiceCall,
  withOwners = false,
) {
  return lookup(grants, { $case: 'organizationId', value: organizationId }, call, withOwners)
}

async function lookup(
  grants: Context['grants'],
  by: LookupOrganizationRequest['by'],
  call: ServiceCall,
  withOwners = false,
) {
  try {
    return await grants.lookupOrganization({ by, withOwners }, call)
  } catch (error) {
    if (error instanceof RosterError && error.reason === 'ORGANIZATION_NOT_FOUND') return undefined
    throw error
  }
}
