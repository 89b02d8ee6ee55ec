import type { IssueTokenRequest, IssueTokenResponse } from '#gen/roster/users/v1/oauth_service'
import { orUnavailable } from '#lib/database/database'
import type { Keyring } from '#lib/encryption/keys'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { type ApplicationClient, methodOf } from '../clients/application-client.ts'
import { makePersonTokens, type PersonTokens } from '../tokens/person-token.ts'
import { isAllowed, judge } from '../judge/judge.ts'
import { makeRefreshToken, newStep } from '../tokens/refresh-token.ts'
import { readSecret } from '../../directory/secrets/secret.ts'
import { countFailure } from '../../directory/rate-limits/client-failures.ts'
import {
  type Authorization,
  type AuthorizationEvent,
  authorizationType,
  type RefusalReason,
} from '../events/authorization.ts'
import { endOfNext, type RefreshToken } from '../events/refresh-tokens.ts'
import { factKeys } from './facts-of.ts'
import { codeLifetime } from './grant-code.ts'
import { findAuthorization, judgeLater, laterFacts, type LoadedAuthorization } from './later-facts.ts'
import { isVerified } from '../pkce.ts'
import { endAuthorization, faultOfEnded, invalidGrant, refusing } from './refusals.ts'
import { surplusAuthorizations } from './surplus.ts'

/** An application that proved who it is, and the key that its tokens are to be bound to. */
export interface Presenter {
  client: ApplicationClient
  dpopThumbprint: string | undefined
}

/** Undefined for a text that is no code of this installation. */
export function readCode(keys: Keyring, text: string): { authorizationId: string } | undefined {
  const [authorizationId] = readSecret(keys, 'code', text) ?? []
  return authorizationId === undefined ? undefined : { authorizationId }
}

/** What a presented text names. Undefined where it is gone. */
export interface PresentedGrant {
  authorization: LoadedAuthorization['authorization'] | undefined
}

/**
 * Makes a code tokens, once. A second right use ends all that came of it. INVALID_ARGUMENT INVALID_GRANT; RESOURCE_EXHAUSTED
 * CLIENT_THROTTLED.
 */
export async function redeemCode(
  context: Context,
  request: Pick<IssueTokenRequest, 'redirectUri' | 'codeVerifier'>,
  code: PresentedGrant | undefined,
  presenter: Presenter,
  call: Call,
): Promise<IssueTokenResponse> {
  const loaded = await findAuthorization(context, code?.authorization, call, presenter.client)
  if (!loaded) {
    await countFailure(context, presenter.client.application.clientId, call.clientAddress)
    throw invalidGrant('unknown')
  }
  const { authorization, signedInUser } = loaded
  const isWrong = wrongIn(request, presenter, authorization.state) !== undefined
  const tokens = isWrong ? undefined : await makeTokens(context, loaded, presenter, call)
  const step = newStep()
  const { requestId, deadline } = call
  const response = await context.store.execute({
    aggregate: { type: authorizationType, id: authorization.id },
    reads: factKeys(signedInUser),
    call: { caller: { userId: signedInUser.userId }, requestId, deadline },
    decide(
      { state, createdAt }: Aggregate<Authorization>,
      now,
      reads,
    ): Decision<AuthorizationEvent, RefreshToken | undefined> {
      if (!state || state.ended) throw invalidGrant(faultOfEnded(state, 'code', presenter.client.application))
      const wrong = wrongIn(request, presenter, state)
      if (wrong) return refusing(context, authorization.id, 'code', wrong)
      if (state.redeemed) return endAuthorization(state, 'code-reuse')
      if (now.getTime() - createdAt.getTime() > codeLifetime * 1000) return endAuthorization(state, 'expired')
      const verdict = judge('code', laterFacts(signedInUser, state, reads, now), now)
      if ('missing' in verdict) return refusing(context, authorization.id, 'code', 'factor')
      // A person who was shut out before is out for good, so there are tokens.
      if ('shutOut' in verdict || !tokens) return endAuthorization(state, 'shut-out')
      const { dpopThumbprint } = presenter
      const first = state.offline ? { step, expiresAt: endOfNext(context.config, now, now) } : undefined
      const payload = {
        tokenId: tokens.tokenId,
        ...(dpopThumbprint !== undefined && { dpopThumbprint }),
        ...(first && { refresh: first }),
      }
      return {
        events: [{ type: 'redeemed', payload }],
        writes: [tokens.write],
        answer: first && { number: 1, step },
      }
    },
    respond: ({ answer }) => ({
      ...tokens!.response,
      refreshToken: answer && makeRefreshToken(context.keys, { authorizationId: authorization.id, ...answer }),
    }),
  })
  // Those that made place for it are over before it is known. If this fails, the sweep does it.
  await surplusAuthorizations.settle(context, signedInUser.userId)
  return response
}

/** What is wrong with the use of a valid code. */
function wrongIn(
  { redirectUri, codeVerifier }: Pick<IssueTokenRequest, 'redirectUri' | 'codeVerifier'>,
  { client, dpopThumbprint }: Presenter,
  authorization: Authorization,
): RefusalReason | undefined {
  if (client.application.id !== authorization.applicationId) return 'client'
  if (redirectUri !== authorization.redirectUri) return 'redirect-uri'
  // The application may have proved who it is when it asked for the code, and may not do so any more.
  const isPublic = methodOf(client.application) === 'none'
  if (!isVerified(codeVerifier, authorization.challenge) || (isPublic && !authorization.challenge)) return 'verifier'
  const bound = authorization.dpopThumbprint
  return bound !== undefined && bound !== dpopThumbprint ? 'key' : undefined
}

// They are signed before the decision, which cannot wait. Undefined where it can only refuse.
async function makeTokens(
  context: Context,
  loaded: LoadedAuthorization,
  { dpopThumbprint }: Presenter,
  call: Call,
): Promise<PersonTokens | undefined> {
  const { id, state, readAt } = loaded.authorization
  if (state.redeemed || state.ended) return undefined
  const allowed = judgeLater('code', loaded)
  if (!isAllowed(allowed)) return undefined
  const nonce = await nonceOf(context, id)
  if (nonce === undefined) return undefined
  const scopes = allowed.scopes
  return makePersonTokens(
    context,
    { allowed, authorizationId: id, authorization: state, scopes, dpopThumbprint, nonce },
    readAt,
    call,
  )
}

async function nonceOf({ sql, keys }: Context, id: string): Promise<string | undefined> {
  const [row] = await orUnavailable(sql<{ detail: Buffer }[]>`
    select detail from secrets where kind = 'code' and id = ${id}
  `)
  return row && (JSON.parse(keys.decrypt('secret-detail', row.detail)) as { nonce: string }).nonce
}
