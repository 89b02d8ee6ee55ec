import type { TestIdentityProviderRequest, TestIdentityProviderResponse } from '#gen/roster/idp/v1/idp_check'
import { orUnavailable, readNow } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import { countUse } from '#lib/eventstore/count-use'
import { guardedFetch } from '#lib/outbound/guarded-fetch'
import type { Call } from '#lib/rpc/headers'
import { openSecret } from '../client-secrets.ts'
import type { Context } from '../context.ts'
import { ownIdp } from '../own-idp.ts'
import type { ProtocolWork, Upstream } from '../protocols/protocol.ts'
import { protocolWorks } from '../protocols/registry.ts'
import { redirectUriOf } from '../protocols/redirect-uri.ts'
import { protocolOf } from '../show.ts'
import type { Idp } from '../vocabulary.ts'

/** Milliseconds for one request, and for the whole test. */
const [forOne, forAll] = [5000, 18_000]
/** Milliseconds that the answer takes back to the caller. */
const answerTakes = 1000
const mostBody = 256 * 1024

/** Each test asks a server that the caller named, some of it with bytes of the caller's. */
const limits = [
  { most: 10, seconds: 60 },
  { most: 100, seconds: 3600 },
]

export async function testIdentityProvider(
  context: Context,
  { idpId }: TestIdentityProviderRequest,
  call: Call,
): Promise<TestIdentityProviderResponse> {
  const { store, sql, destinations, publicUrl } = context
  const { state } = ownIdp(await store.load<Idp>('idp', idpId), call)
  const retryAfter = await countUse(sql, { key: `idp tests ${call.organizationId}`, limits })
  if (retryAfter) throw throttled(retryAfter)
  const [secret, now] = await Promise.all([openSecret(context, idpId, state), orUnavailable(readNow(sql))])
  const over = AbortSignal.timeout(Math.max(1, Math.min(forAll, call.deadline - Date.now() - answerTakes)))
  const fetch = guardedFetch(destinations, { within: forOne, mostBody })
  const protocol = protocolOf(state)
  const redirectUri = redirectUriOf(publicUrl, idpId)
  const upstream: Upstream = {
    configuration: state[protocol]!,
    secret,
    redirectUri,
    fetch: (url, init) => fetch(url, { ...init, signal: over }),
    clockAhead: now.getTime() - Date.now(),
  }
  // The work of a protocol gets the settings of that protocol.
  const work = protocolWorks[protocol] as unknown as ProtocolWork<typeof protocol>
  return { checks: await work.test(upstream), redirectUri }
}

function throttled(retryAfter: number) {
  const message = 'Identity providers of this owner were tested too often of late.'
  return new RosterError('RESOURCE_EXHAUSTED', 'IDP_TESTS_THROTTLED', message, { retryAfter })
}
