import { IDPState } from '#gen/roster/idp/v1/identity_provider_service'
import { type IdentityProvider, IDPOwner } from '#gen/roster/idp/v1/provider_service'
import { details, type Existing } from '#lib/eventstore/aggregate'
import { instance } from '#lib/instance'
import type { Idp } from '../vocabulary.ts'
import { optionsOf } from './settings-of.ts'
import { kindNumbers, toKind } from './to-kind.ts'

/** Shows a provider by its kind, without its secret. */
export function showKind(aggregate: Existing<Idp>): IdentityProvider {
  const { state, organizationId, id } = aggregate
  const config = toKind(state)
  return {
    idpId: id,
    details: details(aggregate),
    state: state.inactive ? IDPState.IDP_STATE_INACTIVE : IDPState.IDP_STATE_ACTIVE,
    name: state.name,
    owner: organizationId === instance.id ? IDPOwner.IDP_OWNER_SYSTEM : IDPOwner.IDP_OWNER_ORG,
    kind: kindNumbers[config.$case],
    options: optionsOf(state),
    config,
  }
}
