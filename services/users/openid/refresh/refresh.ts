import { isDeepStrictEqual } from 'node:util'
import { OIDCGrantType } from '#gen/roster/grants/v1/application_service'
import type { IssueTokenRequest, IssueTokenResponse } from '#gen/roster/users/v1/oauth_service'
import { RosterError } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { factKeys } from '../authorization/facts-of.ts'
import { findAuthorization, judgeLater, laterFacts, type LoadedAuthorization } from '../authorization/later-facts.ts'
import { wordsOf } from '../request/parameters.ts'
import { nameById, readOrganization } from '../request/read-scopes.ts'
import type { PresentedGrant, Presenter } from '../authorization/redeem.ts'
import { endAuthorization, faultOfEnded, invalidGrant, refusing } from '../authorization/refusals.ts'
import type { Context } from '../../context.ts'
import { methodOf } from '../clients/application-client.ts'
import { makePersonTokens, type PersonTokens } from '../tokens/person-token.ts'
import { invalidScope } from '../scope.ts'
import { isAllowed, judge } from '../judge/judge.ts'
import { makeRefreshToken, newStep, type PresentedToken } from '../tokens/refresh-token.ts'
import { countNoToken } from '../../directory/rate-limits/client-failures.ts'
import { rateLimitsFor, takeFromBuckets } from '../../directory/rate-limits/token-buckets.ts'
import {
  type Authorization,
  type AuthorizationEvent,
  authorizationType,
  type RefusalReason,
} from '../events/authorization.ts'
import { endOfNext, overlap, type RefreshToken } from '../events/refresh-tokens.ts'
import { mostUses, useOf } from '../reuse.ts'

/**
 * Gives fresh tokens for a refresh token, and its successor. INVALID_ARGUMENT INVALID_GRANT, INVALID_SCOPE,
 * UNAUTHORIZED_CLIENT; RESOURCE_EXHAUSTED REFRESH_THROTTLED, CLIENT_THROTTLED; UNAVAILABLE; errors of grants.
 */
export async function refresh(
  context: Context,
  request: Pick<IssueTokenRequest, 'scope'>,
  presented: (PresentedToken & PresentedGrant) | undefined,
  presenter: Presenter,
  call: Call,
): Promise<IssueTokenResponse> {
  const { config, keys, store } = context
  const { grantTypes } = presenter.client.application.oidc!
  if (!grantTypes.includes(OIDCGrantType.OIDC_GRANT_TYPE_REFRESH_TOKEN)) throw notRegistered()
  if (!presented) await countNoToken(context, call.clientAddress)
  const loaded = presented && (await findAuthorization(context, presented.authorization, call, presenter.client))
  if (!loaded) throw invalidGrant('unknown')
  const { authorization, signedInUser, reads } = loaded
  const tokens = await makeTokens(context, loaded, request.scope, presenter, call)
  const step = newStep()
  const { requestId, deadline } = call
  const decideOn = (isCounted: boolean) =>
    store.execute({
      aggregate: { type: authorizationType, id: authorization.id },
      reads: factKeys(signedInUser),
      known: [authorization, ...Object.values(reads)],
      call: { caller: { userId: signedInUser.userId }, requestId, deadline },
      decide({ state }: Aggregate<Authorization>, now, found): Decision<AuthorizationEvent, RefreshToken | undefined> {
        if (!state || state.ended)
          throw invalidGrant(faultOfEnded(state, 'refresh-token', presenter.client.application))
        const wrong = wrongIn(presenter, state)
        if (wrong) return refusing(context, authorization.id, 'refresh-token', wrong)
        const verdict = judge('refresh', laterFacts(signedInUser, state, found, now), now)
        if ('missing' in verdict) return refusing(context, authorization.id, 'refresh-token', 'factor')
        if ('shutOut' in verdict) return endAuthorization(state, 'shut-out')
        const { refreshTokens } = state
        if (!refreshTokens || now.getTime() >= Date.parse(refreshTokens.expiresAt))
          return endAuthorization(state, 'expired')
        const use = useOf(refreshTokens, presented, now)
        if (use === 'stolen') return endAuthorization(state, 'refresh-reuse')
        // A factor was missing a moment ago.
        if (!tokens) throw invalidGrant('factor')
        const { tokenId, write, response } = tokens
        if (use === 'first') {
          const next = { number: presented.number + 1, step }
          const expiresAt = endOfNext(config, new Date(refreshTokens.since), now)
          const { admittedBy } = verdict
          const isOther = admittedBy && !isDeepStrictEqual(admittedBy, state.admittedBy)
          const payload = { ...next, expiresAt, tokenId, scope: response.scope ?? '', ...(isOther && { admittedBy }) }
          return { events: [{ type: 'refreshed', payload }], writes: [write], answer: next }
        }
        if ('retryAfter' in use) throw throttled(use.retryAfter)
        if (!isCounted) throw new Repeated()
        // An end that comes later waits for this row, and takes it away.
        return { events: [], writes: [write], commits: true, answer: use.successor }
      },
      respond: ({ answer }) => ({
        ...tokens!.response,
        refreshToken: makeRefreshToken(keys, { authorizationId: authorization.id, ...answer! }),
      }),
    })
  try {
    return await decideOn(false)
  } catch (error) {
    if (!(error instanceof Repeated)) throw error
    await countRepetition(context, authorization.id)
    return decideOn(true)
  }
}

/** A refresh token was used before, and gives the same successor. */
class Repeated extends Error {}

// A repetition changes nothing of the authorization, so its number of uses is no bound. Each stores an access token.
async function countRepetition({ sql, keys }: Context, authorizationId: string): Promise<void> {
  const name = ['refresh token repeated', authorizationId]
  const limits = rateLimitsFor(keys, [{ name, most: mostUses, pause: overlap / 1000 / mostUses, kind: 'always' }])
  const retryAfter = await takeFromBuckets(sql, limits)
  if (retryAfter !== undefined) throw throttled(retryAfter)
}

/** What is wrong with the use of a valid refresh token. That of a public application is bound to its key, if it has one. */
function wrongIn({ client, dpopThumbprint }: Presenter, authorization: Authorization): RefusalReason | undefined {
  const { application } = client
  if (application.id !== authorization.applicationId) return 'client'
  const bound = methodOf(application) === 'none' ? authorization.redeemed?.dpopThumbprint : undefined
  return bound !== undefined && bound !== dpopThumbprint ? 'key' : undefined
}

// They are signed before the decision, which cannot wait. Undefined where it can only refuse.
async function makeTokens(
  context: Context,
  loaded: LoadedAuthorization,
  scope: string,
  presenter: Presenter,
  call: Call,
): Promise<PersonTokens | undefined> {
  const { id: authorizationId, state: authorization, readAt } = loaded.authorization
  if (authorization.ended || wrongIn(presenter, authorization)) return undefined
  const allowed = judgeLater('refresh', loaded)
  if (!isAllowed(allowed)) return undefined
  const readable = await nameById(context, scope, call)
  const named = readOrganization(readable)
  // It says whose people the tokens are for, and to leave out another one would give tokens for others.
  if (!named || (named.organizationId ?? authorization.organizationScope) !== authorization.organizationScope)
    throw invalidScope()
  const asked = wordsOf(readable)
  const scopes = asked.length > 0 ? allowed.scopes.filter((each) => asked.includes(each)) : allowed.scopes
  if (asked.length > 0 && scopes.length === 0) throw invalidScope()
  const { dpopThumbprint } = presenter
  const grant = { allowed, authorizationId, authorization, scopes, dpopThumbprint, nonce: '' }
  return makePersonTokens(context, grant, readAt, call)
}

function notRegistered(): RosterError {
  return new RosterError(
    'INVALID_ARGUMENT',
    'UNAUTHORIZED_CLIENT',
    'The application is not registered for refresh tokens: its grantTypes lack OIDC_GRANT_TYPE_REFRESH_TOKEN.',
  )
}

function throttled(retryAfter: number): RosterError {
  return new RosterError('RESOURCE_EXHAUSTED', 'REFRESH_THROTTLED', 'The refresh token is used too often.', {
    retryAfter,
  })
}
