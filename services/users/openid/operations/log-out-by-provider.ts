import type { LogOutByProviderRequest, LogOutByProviderResponse } from '#gen/roster/users/v1/oauth_service'
import { invalid, RosterError } from '#lib/errors'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { networkOf, rateLimitsFor, takeFromBuckets } from '../../directory/rate-limits/token-buckets.ts'
import { findLinked } from '../../sessions/factors/provider/provider.ts'
import { findProviderSessions } from '../../sessions/factors/provider/provider-sessions.ts'
import { forgetProved } from '../../sessions/intents/intent-rows.ts'
import { endSession } from '../../sessions/sessions.ts'

export async function logOutByProvider(
  context: Context,
  { idpId, logoutToken }: LogOutByProviderRequest,
  call: Call,
): Promise<LogOutByProviderResponse> {
  await takeTurn(context, call.clientAddress)
  const { issuer, subject, sid } = await verified(context, { idpId, logoutToken }, call)
  await forgetProved(context, { idpId, issuer, subject, sid })
  const user = subject === '' ? undefined : await findLinked(context, { idpId, issuer, subject })
  // Nobody here is whom it names.
  if (subject !== '' && !user) return {}
  const sessions = await findProviderSessions(context.sql, { idpId, issuer, sid, userId: user?.userId })
  const { requestId, deadline } = call
  await Promise.all(
    sessions.map(({ sessionId, userId }) =>
      context.store.execute({
        ...endSession(sessionId),
        call: { caller: { ...anonymous, userId }, requestId, deadline },
      }),
    ),
  )
  return {}
}

async function verified(context: Context, request: LogOutByProviderRequest, call: Call) {
  const found = await context.idp.verifyProviderLogout(request, call).catch((error: unknown) => {
    if (error instanceof RosterError && error.reason === 'IDP_NOT_FOUND') throw tokenInvalid()
    throw error
  })
  if (found.fault === '') return found
  context.log.info(
    { idpId: request.idpId, fault: found.fault, requestId: call.requestId },
    'a provider logged nobody out',
  )
  if (found.fault !== 'not-available') throw tokenInvalid()
  throw new RosterError('UNAVAILABLE', 'IDP_NOT_AVAILABLE', 'The identity provider cannot be used now.')
}

// Each asks the provider for its description, and for keys that are not known.
async function takeTurn({ sql, keys }: Context, address: string): Promise<void> {
  const network = networkOf(address)
  const retryAfter = await takeFromBuckets(
    sql,
    rateLimitsFor(keys, [
      { name: ['provider logouts from', address], most: 100, pause: 0.5, kind: 'always' },
      ...(network === undefined
        ? []
        : [{ name: ['provider logouts from', network], most: 1000, pause: 0.05, kind: 'always' as const }]),
    ]),
  )
  if (retryAfter === undefined) return
  const message = 'Too many logout tokens came from this address.'
  throw new RosterError('RESOURCE_EXHAUSTED', 'LOGOUT_THROTTLED', message, { retryAfter })
}

function tokenInvalid(): RosterError {
  return invalid([{ field: 'logoutToken', description: 'is no logout token of this provider' }], 'LOGOUT_TOKEN_INVALID')
}
