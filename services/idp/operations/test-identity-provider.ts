import type { TestIdentityProviderRequest, TestIdentityProviderResponse } from '#gen/roster/idp/v1/idp_check'
import { RosterError } from '#lib/errors'
import { countUse } from '#lib/eventstore/count-use'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { ownIdp } from '../own-idp.ts'
import type { ProtocolWork } from '../protocols/protocol.ts'
import { protocolWorks } from '../protocols/registry.ts'
import { upstreamOf } from '../protocols/upstream-of.ts'
import { protocolOf } from '../show.ts'
import type { Idp } from '../vocabulary.ts'

/** Milliseconds for the whole test. */
const longest = 18_000
/** Milliseconds that an answer takes back to the caller. */
export const answerTakes = 1000

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
  const { store } = context
  const { state } = ownIdp(await store.load<Idp>('idp', idpId), call)
  await countTest(context, call)
  const within = Math.min(longest, call.deadline - Date.now() - answerTakes)
  const upstream = await upstreamOf(context, idpId, state, within)
  const protocol = protocolOf(state)
  // The work of a protocol gets the settings of that protocol.
  const work = protocolWorks[protocol] as unknown as ProtocolWork<typeof protocol>
  return { checks: await work.test(upstream), redirectUri: upstream.redirectUri }
}

/** RESOURCE_EXHAUSTED IDP_TESTS_THROTTLED. */
export async function countTest({ sql }: Context, { organizationId }: Call): Promise<void> {
  const retryAfter = await countUse(sql, { key: `idp tests ${organizationId}`, limits })
  if (!retryAfter) return
  const message = 'Identity providers of this owner were tested too often of late.'
  throw new RosterError('RESOURCE_EXHAUSTED', 'IDP_TESTS_THROTTLED', message, { retryAfter })
}
