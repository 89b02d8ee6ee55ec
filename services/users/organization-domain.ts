import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from './context.ts'

/** The organization with this primary domain, by its id; undefined where there is none. */
export async function lookupDomain(grants: Context['grants'], domain: string, call: Call): Promise<string | undefined> {
  try {
    const { organizationId } = await grants.lookupOrganization(
      { by: { $case: 'primaryDomain', value: domain.toLowerCase() } },
      call,
    )
    return organizationId
  } catch (error) {
    if (error instanceof RosterError && error.reason === 'ORGANIZATION_NOT_FOUND') return undefined
    throw error
  }
}
