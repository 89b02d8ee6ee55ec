import type { Aggregate } from '#lib/eventstore/aggregate'
import { permissionDenied } from '#lib/rpc/authorize'
import { type Caller, holds } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import type { Application, OIDC } from '../vocabulary/application.ts'
import { ownApplication } from './own-application.ts'

/**
 * The same as `ownApplication`, for a change. Whoever decides where the tokens of an application go that may act in Roster
 * acts there as each person who uses it. So PERMISSION_DENIED without `iam.policy.write` on the instance.
 */
export function changeableApplication<Found extends Aggregate<Application>>(
  application: Found | undefined,
  request: { projectId: string },
  call: Call,
): Found & { state: Application } {
  const own = ownApplication(application, request, call)
  if (own.state.oidc?.rosterApi) permitTrusted(call.caller)
  return own
}

/** PERMISSION_DENIED for settings that people must be able to rely on: who acts in Roster, and who asks for passwords. */
export function permitSettings(caller: Caller, settings: OIDC, former?: OIDC): void {
  const namesPages = settings.loginBaseUri && settings.loginBaseUri !== former?.loginBaseUri
  if (settings.rosterApi || namesPages) permitTrusted(caller)
}

function permitTrusted(caller: Caller): void {
  if (!holds(caller, 'iam.policy.write')) throw permissionDenied()
}
