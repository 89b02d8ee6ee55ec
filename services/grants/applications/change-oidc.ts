import type { UpdateOIDCConfigRequest } from '#gen/roster/grants/v1/application_service'
import { invalid } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import type { Application, ApplicationEvent } from '../vocabulary/application.ts'
import type { Organization } from '../vocabulary/organization.ts'
import { changedConfig, typeMismatch } from './change-config.ts'
import { refuseUnknownOrganization } from './named-organization.ts'
import { changedOidc, faultsOf } from './oidc-config.ts'
import { permitSettings } from './trusted-application.ts'

/** Settings that a request wants. `place`: where they are in it, such as `oidcConfig.`. */
export interface WantedOidc {
  request: UpdateOIDCConfigRequest
  /** The organization that they name. */
  named: Aggregate<Organization> | undefined
  place: string
}

/**
 * The decision that a client of OpenID Connect has other settings. INVALID_ARGUMENT names the fields; PERMISSION_DENIED;
 * FAILED_PRECONDITION APPLICATION_TYPE_MISMATCH.
 */
export function changeOidc(
  { config }: Pick<Context, 'config'>,
  { id, state }: { id: string; state: Application },
  { request, named, place }: WantedOidc,
  { caller }: Call,
): Decision<ApplicationEvent> {
  if (!state.oidc) throw typeMismatch()
  // What is not sent stays, so the whole is known only here.
  const oidc = changedOidc(request, state.oidc)
  permitSettings(caller, oidc, state.oidc)
  const faults = faultsOf(oidc, request, state.clientId !== id, config.WEBHOOK_ALLOW_PRIVATE)
  if (faults.length > 0) throw invalid(faults.map((fault) => ({ ...fault, field: place + fault.field })))
  if (oidc.organizationId !== state.oidc.organizationId) refuseUnknownOrganization(named, `${place}organizationId`)
  return changedConfig({ oidc: state.oidc }, { oidc })
}
