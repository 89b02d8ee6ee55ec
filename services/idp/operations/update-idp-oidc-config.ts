import type {
  UpdateIDPOIDCConfigRequest,
  UpdateIDPOIDCConfigResponse,
} from '#gen/roster/idp/v1/identity_provider_service'
import { invalid } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { refuseBesideFormer } from '#lib/schema/releases'
import { changeConfiguration } from '../change-idp.ts'
import { checkUrls } from '../check-urls.ts'
import type { Context } from '../context.ts'
import { ownIdp } from '../own-idp.ts'
import { checkOidcPreset } from '../presets.ts'
import { faultOfCallback } from '../protocols/oidc/common-callback.ts'
import { discover } from '../protocols/oidc/discovery.ts'
import { isCommon } from '../protocols/redirect-uri.ts'
import { upstreamOf } from '../protocols/upstream-of.ts'
import { checkScopes, newScopes } from '../scopes.ts'
import type { Idp } from '../vocabulary.ts'
import { answerTakes, countTest } from './test-identity-provider.ts'

export const updateIdpOidcConfig = {
  check: (context: Context, request: UpdateIDPOIDCConfigRequest) => [
    ...checkUrls(['issuer'])(context, request),
    ...checkScopes(request),
  ],

  async handle(
    context: Context,
    request: UpdateIDPOIDCConfigRequest,
    call: Call,
  ): Promise<UpdateIDPOIDCConfigResponse> {
    const { idpId, clientId, clientSecret, issuer, tenants, appleKey, callback } = request
    if (callback !== undefined) await refuseBesideFormer(context.sql)
    await askForCallback(context, request, call)
    const changes = { clientId, issuer, scopes: newScopes(request), tenants, appleKey, callback }
    const secret = { replacement: clientSecret }
    return changeConfiguration(context, idpId, call, 'oidc', changes, secret, ({ preset, appleKey: before }) =>
      checkOidcPreset({ preset, tenants, appleKey: appleKey ?? before, clientSecret }),
    )
  },
}

// A provider that shares its callback has to say that its answers name it. Each beginning looks again.
async function askForCallback(context: Context, request: UpdateIDPOIDCConfigRequest, call: Call): Promise<void> {
  const { idpId, issuer, callback } = request
  if (issuer === undefined && callback === undefined) return
  const { state } = ownIdp(await context.store.load<Idp>('idp', idpId), call)
  if (!state.oidc) return
  const oidc = { ...state.oidc, issuer: issuer ?? state.oidc.issuer, callback: callback ?? state.oidc.callback }
  if (!isCommon({ oidc })) return
  await countTest(context, call)
  const { fetch } = await upstreamOf(context, idpId, { ...state, oidc }, call.deadline - Date.now() - answerTakes)
  const found = await discover(fetch, oidc)
  const description = 'problem' in found ? found.problem : faultOfCallback(oidc, found.server)
  const field = callback === undefined ? 'issuer' : 'callback'
  if (description !== undefined) throw invalid([{ field, description }])
}
