import { orUnavailable, type Sql } from '#lib/database/database'
import { instance } from '#lib/instance'
import type { IDPStylingType } from '#gen/roster/idp/v1/identity_provider_service'

/** A provider that people sign in by. */
export interface KnownProvider {
  idpId: string
  /** The organization that has it, or the instance. */
  organizationId: string
  name: string
  stylingType: IDPStylingType
  /** The words of its own that make a sign-in there count as two factors. Missing: none. */
  secondFactors?: readonly string[]
}

/**
 * Those of these providers that people of an organization sign in by, in this order: its own and the instance's. Another
 * organization's proves none of its people. UNAVAILABLE STORE_UNAVAILABLE.
 */
export async function findProviders(
  sql: Sql,
  idpIds: readonly string[],
  organizationId: string,
): Promise<KnownProvider[]> {
  if (idpIds.length === 0) return []
  const found = await orUnavailable(sql<KnownProvider[]>`
    select idp_id as "idpId", organization_id as "organizationId", name, styling_type as "stylingType",
      second_factors as "secondFactors"
    from identity_providers
    where idp_id = any(${idpIds}) and organization_id in (${organizationId}, ${instance.id}) and signs_in
  `)
  return idpIds.flatMap((id) => found.filter(({ idpId }) => idpId === id))
}

export const isOfInstance = ({ organizationId }: Pick<KnownProvider, 'organizationId'>) =>
  organizationId === instance.id

/** These providers, of which those of organizations count as one factor, whatever they say. */
export function withoutSecondFactors(providers: readonly KnownProvider[]): KnownProvider[] {
  return providers.map((one) => (isOfInstance(one) ? one : { ...one, secondFactors: [] }))
}
