import type { LookupProviderRequest, LookupProviderResponse } from '#gen/roster/idp/v1/internal_service'
import { IDPState } from '#gen/roster/idp/v1/identity_provider_service'
import { receiverOf } from '../../client-secrets.ts'
import type { Context } from '../../context.ts'
import { optionsOf } from '../../kinds/settings-of.ts'
import { kindOf } from '../../kinds/to-kind.ts'
import { wordsOf } from '../../protocols/claims.ts'
import { rowOf } from '../../protocols/role-rows.ts'
import { whoseWord } from '../../protocols/oauth/callback.ts'
import { isOfTenants } from '../../protocols/oidc/tenants.ts'
import { signsIn } from '../../protocols/registry.ts'
import { type Idp, idpNotFound } from '../../vocabulary.ts'

/** What users keeps of a provider, as it is now. */
export async function lookupProvider(
  { store }: Context,
  { idpId }: LookupProviderRequest,
): Promise<LookupProviderResponse> {
  const found = await store.load<Idp>('idp', idpId)
  if (!found) throw idpNotFound()
  const { state, organizationId, sequence } = found
  const { name, stylingType } = state
  const secondFactors = wordsOf(state.claims?.secondFactor)
  return {
    organizationId,
    sequence,
    signsIn: signsIn(state),
    name,
    stylingType,
    secondFactors,
    roleRows: rowsOf(state),
    keepsTokens: signsIn(state) && state.sessions?.keepTokens === true,
    logsOut: signsIn(state) && state.sessions?.logoutAtProvider === true,
    state: stateOf(state),
    autoRegister: state.autoRegister,
    refusesLinking: state.refusesLinking === true,
    issuer: issuerOf(state),
    receiver: receiverOf(state) ?? '',
    kind: kindOf(state),
    options: optionsOf(state),
  }
}

function stateOf({ removed, inactive }: Idp): IDPState {
  if (removed) return IDPState.IDP_STATE_UNSPECIFIED
  return inactive ? IDPState.IDP_STATE_INACTIVE : IDPState.IDP_STATE_ACTIVE
}

function rowsOf({ removed, roleRows = [] }: Idp) {
  return removed ? [] : roleRows.map(rowOf)
}

function issuerOf({ oidc, oauth, jwt }: Idp): string {
  if (oauth) return whoseWord(oauth)
  if (oidc && isOfTenants(oidc)) return ''
  return oidc?.issuer ?? jwt?.issuer ?? ''
}
