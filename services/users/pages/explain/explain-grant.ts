import { SignInReason, TokenKind, TokenReason } from '#gen/roster/users/v1/session_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { loadApplication } from '../../openid/applications/find-application.ts'
import { codeLifetime } from '../../openid/authorization/grant-code.ts'
import {
  findAuthorization,
  judgeLater,
  type LaterStage,
  type LoadedAuthorization,
  loadAuthorization,
  loadOfCode,
} from '../../openid/authorization/later-facts.ts'
import { readCode } from '../../openid/authorization/sealed-code.ts'
import { authorizationType, type EndReason } from '../../openid/events/authorization.ts'
import { isAllowed } from '../../openid/judge/judge.ts'
import { whyUseless } from '../../openid/refresh/describe-refresh-token.ts'
import { readRefreshToken } from '../../openid/tokens/refresh-token.ts'
import { judgeGiven, sees } from './assess.ts'
import type { TokenFacts } from './token-facts.ts'
import { ground, groundsOfVerdict } from './grounds.ts'

/** What is known of a refresh token, or of a code. Neither is used. UNAVAILABLE; errors of grants. */
export async function explainGrant(context: Context, text: string, call: Call): Promise<TokenFacts | undefined> {
  const refreshToken = readRefreshToken(context.keys, text)
  const code = refreshToken ? undefined : readCode(context.keys, text)
  const authorization = refreshToken
    ? await loadAuthorization(context, refreshToken.authorizationId)
    : code && (await loadOfCode(context, code))
  if (!authorization) return undefined
  const { state, organizationId, createdAt, readAt } = authorization
  const end = new Date(createdAt.getTime() + codeLifetime * 1000)
  const own = refreshToken
    ? whyUseless(refreshToken, authorization)
    : whyNoCode(state.redeemed !== undefined, end, readAt)
  const stage = refreshToken ? 'refresh' : 'code'
  const loaded = await findAuthorization(context, authorization, call)
  const isActive = own === undefined && loaded !== undefined && !state.ended && isAllowed(judgeLater(stage, loaded))
  return {
    of: { userId: state.userId, organizationId, human: true },
    kind: refreshToken ? TokenKind.TOKEN_KIND_REFRESH : TokenKind.TOKEN_KIND_CODE,
    scopes: state.scope.split(' ').filter(Boolean),
    keyBound: (state.redeemed?.dpopThumbprint ?? state.dpopThumbprint) !== undefined,
    creationDate: refreshToken ? undefined : createdAt,
    expirationDate: refreshToken ? toDate(state.refreshTokens?.expiresAt) : end,
    ...(await describeAuthorization(context, authorization)),
    ...(!isActive && (await whyEnded(context, authorization, stage, call, own))),
  }
}

function whyNoCode(isRedeemed: boolean, end: Date, now: Date): 'used' | 'expired' | undefined {
  if (isRedeemed) return 'used'
  return now > end ? 'expired' : undefined
}

const toDate = (time: string | undefined) => (time === undefined ? undefined : new Date(time))

/** Which application has it, and of which session it came. UNAVAILABLE. */
export async function describeAuthorization(
  context: Context,
  authorization: LoadedAuthorization['authorization'] | undefined,
): Promise<Pick<TokenFacts, 'appId' | 'clientId' | 'sessionId'>> {
  if (!authorization) return {}
  const { applicationId, sessionId } = authorization.state
  const known = await loadApplication(context, { applicationId })
  return { appId: applicationId, clientId: known?.application.clientId ?? '', sessionId }
}

const reasons: Partial<Record<EndReason | 'used', TokenReason>> = {
  used: TokenReason.TOKEN_REASON_USED,
  'code-reuse': TokenReason.TOKEN_REASON_USED,
  'refresh-reuse': TokenReason.TOKEN_REASON_USED,
  expired: TokenReason.TOKEN_REASON_EXPIRED,
  revoked: TokenReason.TOKEN_REASON_TAKEN_BACK,
  surplus: TokenReason.TOKEN_REASON_TAKEN_BACK,
}

/** Why what an application has of a person opens nothing at a stage. `own`: what is wrong with the text itself. */
export async function whyEnded(
  context: Context,
  authorization: LoadedAuthorization['authorization'] | { id: string; state: undefined },
  stage: LaterStage,
  call: Call,
  own?: 'used' | 'expired',
): Promise<Pick<TokenFacts, 'reason' | 'ground'>> {
  const { id: authorizationId, state } = authorization
  const reason = reasons[state?.ended ?? own ?? 'shut-out']
  if (reason !== undefined) return { reason }
  const loaded = state && (await findAuthorization(context, authorization, call))
  if (!state || !loaded) {
    const reason = state
      ? SignInReason.SIGN_IN_REASON_APPLICATION_CLOSED
      : SignInReason.SIGN_IN_REASON_AUTHORIZATION_ENDED
    const object = state ? undefined : { type: authorizationType, id: authorizationId }
    return { reason: TokenReason.TOKEN_REASON_GROUND, ground: ground({ reason, object }) }
  }
  const { userId } = state
  const { signedInUser, reads } = loaded
  const judged = await judgeGiven(context, { userId, stage, found: authorization }, signedInUser)
  const assessment = { ...judged, user: reads.user.state!, seesProject: await sees(signedInUser, call) }
  const { refusal, missing } = groundsOfVerdict(assessment, { userId, authorizationId, hintedUserId: '' })
  if (refusal) return { reason: TokenReason.TOKEN_REASON_GROUND, ground: refusal }
  return { reason: TokenReason.TOKEN_REASON_FACTOR_MISSING, ground: missing[0] }
}
