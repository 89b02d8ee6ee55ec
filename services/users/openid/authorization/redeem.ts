import type { IssueTokenRequest, IssueTokenResponse } from '#gen/roster/users/v1/oauth_service'
import { orUnavailable } from '#lib/database/database'
import { type Aggregate, missing } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { type ApplicationClient, methodOf } from '../clients/application-client.ts'
import { makePersonTokens, type PersonTokens } from '../tokens/person-token.ts'
import { isAllowed, judge } from '../judge/judge.ts'
import { makeRefreshToken, newStep } from '../tokens/refresh-token.ts'
import { countFailure } from '../../directory/rate-limits/client-failures.ts'
import {
  type Authorization,
  type AuthorizationEvent,
  authorizationType,
  type EndReason,
  type RefusalReason,
} from '../events/authorization.ts'
import { endOfNext, type RefreshToken } from '../events/refresh-tokens.ts'
import { factKeys } from './facts-of.ts'
import { codeLifetime } from './grant-code.ts'
import { findAuthorization, judgeLater, laterFacts, type LoadedAuthorization } from './later-facts.ts'
import { isVerified } from '../pkce.ts'
import { endAuthorization, faultOfEnded, invalidGrant, refuseUnused, refusing } from './refusals.ts'
import type { ReadCode, SealedGrant } from './sealed-code.ts'
import { surplusAuthorizations } from './surplus.ts'

/** An application that proved who it is, and the key that its tokens are to be bound to. */
export interface Presenter {
  client: ApplicationClient
  dpopThumbprint: string | undefined
}

/** What a presented text names. Undefined where it is gone. */
export interface PresentedGrant {
  authorization: LoadedAuthorization['authorization'] | undefined
}

/**
 * Makes a code tokens, once, or what `make` makes of it. A second right use ends all that came of it. INVALID_ARGUMENT INVALID_GRANT; RESOURCE_EXHAUSTED
 * CLIENT_THROTTLED.
 */
export async function redeemCode(
  context: Context,
  request: Pick<IssueTokenRequest, 'redirectUri' | 'codeVerifier'>,
  code: (ReadCode & PresentedGrant) | undefined,
  presenter: Presenter,
  call: Call,
  make: typeof makePersonTokens = makePersonTokens,
): Promise<IssueTokenResponse> {
  const loaded = await findAuthorization(context, code?.authorization, call, presenter.client)
  if (!loaded) {
    await countFailure(context, presenter.client.application.clientId, call.clientAddress)
    throw invalidGrant('unknown')
  }
  const { authorization, signedInUser, reads } = loaded
  const isWrong = wrongIn(request, presenter, authorization.state) !== undefined
  const tokens = isWrong ? undefined : await makeTokens(context, loaded, code!.sealed, presenter, call, make)
  const step = newStep()
  const { requestId, deadline } = call
  const redeem = () =>
    context.store.execute({
      aggregate: { type: authorizationType, id: authorization.id },
      reads: factKeys(signedInUser),
      // One that nothing is stored of is as missing as it was read.
      known: [
        ...Object.values(reads),
        authorization.sequence > 0 ? authorization : { ...missing(authorization), readAt: authorization.readAt },
      ],
      call: { caller: { userId: signedInUser.userId }, requestId, deadline },
      decide(
        { state: stored, sequence, createdAt }: Aggregate<Authorization>,
        now,
        found,
      ): Decision<AuthorizationEvent, RefreshToken | undefined> {
        const sealed = sequence === 0 ? code!.sealed : undefined
        const state: Authorization | undefined = stored ?? sealed?.granted
        if (!state || state.ended) throw invalidGrant(faultOfEnded(state, 'code', presenter.client.application))
        const wrong = wrongIn(request, presenter, state)
        if (wrong) return refuse(wrong)
        if (state.redeemed) return endAuthorization(state, 'code-reuse')
        const givenAt = sealed ? new Date(sealed.givenAt) : createdAt
        if (now.getTime() - givenAt.getTime() > codeLifetime * 1000) return end('expired')
        const verdict = judge('code', laterFacts(signedInUser, state, found, now), now)
        if ('missing' in verdict) return refuse('factor')
        // A person who was shut out before is out for good, so there are tokens.
        if ('shutOut' in verdict || !tokens) return end('shut-out')
        const { dpopThumbprint } = presenter
        const first = state.offline ? { step, expiresAt: endOfNext(context.config, now, now) } : undefined
        const payload = {
          tokenId: tokens.tokenId,
          ...(dpopThumbprint !== undefined && { dpopThumbprint }),
          ...(first && { refresh: first }),
        }
        return {
          organizationId: authorization.organizationId,
          events: [
            ...(sealed ? [{ type: 'granted' as const, payload: sealed.granted }] : []),
            { type: 'redeemed', payload },
          ],
          writes: [tokens.write],
          answer: first && { number: 1, step },
        }

        function refuse(reason: RefusalReason) {
          if (sealed) throw new Unused(sealed, reason)
          return refusing(context, authorization.id, 'code', reason)
        }

        function end(reason: 'expired' | 'shut-out') {
          // Long after, what came of a code that was redeemed may be gone.
          if (sealed && reason === 'expired') throw new Unused(sealed, reason)
          const { events, ...ended } = endAuthorization(state!, reason)
          // What has shut out the person may be open again within the life of the code.
          const created = sealed ? [{ type: 'granted' as const, payload: sealed.granted }] : []
          return { ...ended, organizationId: authorization.organizationId, events: [...created, ...events] }
        }
      },
      respond: ({ answer }) => ({
        ...tokens!.response,
        refreshToken: answer && makeRefreshToken(context.keys, { authorizationId: authorization.id, ...answer }),
      }),
    })
  const response = await redeem().catch((error: unknown) => {
    if (error instanceof Unused) return refuseUnused(context, error.sealed, error.reason, call)
    throw error
  })
  // Tokens of those that made place for it are over already, and their events come with the sweep. A refresh token asks for
  // the event alone, so that comes before the answer.
  if (response.refreshToken !== undefined) await surplusAuthorizations.settle(context, signedInUser.userId)
  return response
}

/** A code that was never redeemed is refused. */
class Unused extends Error {
  readonly sealed: SealedGrant
  readonly reason: RefusalReason | EndReason

  constructor(sealed: SealedGrant, reason: RefusalReason | EndReason) {
    super(reason)
    this.sealed = sealed
    this.reason = reason
  }
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
  sealed: SealedGrant | undefined,
  { dpopThumbprint }: Presenter,
  call: Call,
  make: typeof makePersonTokens,
): Promise<PersonTokens | undefined> {
  const { id, state, readAt } = loaded.authorization
  if (state.redeemed || state.ended) return undefined
  const allowed = judgeLater('code', loaded)
  if (!isAllowed(allowed)) return undefined
  const nonce = sealed ? sealed.nonce : await nonceOf(context, id)
  if (nonce === undefined) return undefined
  const scopes = allowed.scopes
  return make(
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
