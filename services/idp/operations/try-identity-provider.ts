import type { TryIdentityProviderRequest, TryIdentityProviderResponse } from '#gen/roster/idp/v1/idp_check'
import { orUnavailable, readNow } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import { typeMismatch } from '../change-idp.ts'
import type { Context } from '../context.ts'
import { ownIdp } from '../own-idp.ts'
import { newBegun } from '../protocols/oidc/begin.ts'
import { UpstreamError } from '../protocols/protocol.ts'
import { signingInWork } from '../protocols/registry.ts'
import { upstreamOf } from '../protocols/upstream-of.ts'
import { stateOf, trialFor } from '../trials.ts'
import type { Idp } from '../vocabulary.ts'
import { notAvailable } from './internal/provider-sign-in.ts'
import { countTest } from './test-identity-provider.ts'

/** Milliseconds that the answer takes back to the caller. */
const answerTakes = 1000

export async function tryIdentityProvider(
  context: Context,
  { idpId }: TryIdentityProviderRequest,
  call: Call,
): Promise<TryIdentityProviderResponse> {
  const { organizationId, caller, deadline } = call
  const { state: idp } = ownIdp(await context.store.load<Idp>('idp', idpId), call)
  const work = signingInWork(idp)
  if (!work) throw typeMismatch()
  await countTest(context, call)
  const at = (await orUnavailable(readNow(context.sql))).getTime()
  const { state: _, ...secrets } = newBegun()
  const trial = { ...secrets, idpId, organizationId, userId: caller.userId, at }
  const state = stateOf(context, trial, idp.jwt?.headerName ?? '')
  const upstream = await upstreamOf(context, idpId, idp, deadline - Date.now() - answerTakes)
  try {
    const url = await work.begin(upstream, { ...secrets, state }, {})
    return { url: url.href, expirationDate: new Date(at + trialFor * 1000) }
  } catch (error) {
    if (error instanceof UpstreamError) throw notAvailable(error)
    throw error
  }
}
