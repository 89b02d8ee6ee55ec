import { isOfInstance, type KnownProvider } from '../../sessions/factors/provider/known-providers.ts'
import type { CheckedFactor } from '../../sessions/login-policy/login-policy.ts'
import { providerTokens } from '../scope.ts'

/**
 * The scopes of a request without that of a provider's tokens, where those are for no application of this organization: the person
 * came by a provider of another one. Who came by none may come by another provider later. Pure.
 */
export function withoutForeignTokens(
  scopes: readonly string[],
  factors: readonly Pick<CheckedFactor, 'kind' | 'idpId'>[],
  providers: readonly Pick<KnownProvider, 'idpId' | 'organizationId'>[],
  organizationId: string,
): readonly string[] {
  if (!scopes.includes(providerTokens)) return scopes
  const cameBy = providers.filter(({ idpId }) => factors.some((one) => one.kind === 'provider' && one.idpId === idpId))
  const isForeign = cameBy.length > 0 && !cameBy.some((one) => givesTokensTo(one, organizationId))
  return isForeign ? scopes.filter((scope) => scope !== providerTokens) : scopes
}

/** Whether the tokens of a provider are for applications of this organization. */
export function givesTokensTo(provider: Pick<KnownProvider, 'organizationId'>, organizationId: string): boolean {
  return isOfInstance(provider) || provider.organizationId === organizationId
}
