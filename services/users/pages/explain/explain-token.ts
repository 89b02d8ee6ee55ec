import {
  type ExplainTokenRequest,
  ExplainTokenResponse,
  TokenKind,
  TokenReason,
} from '#gen/roster/users/v1/session_service'
import { holds } from '#lib/rpc/caller'
import { callerIn } from '#lib/rpc/caller-in'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { explainGrant } from './explain-grant.ts'
import { explainJwt } from './explain-jwt.ts'
import { explainStored } from './explain-stored-token.ts'
import type { TokenFacts } from './token-facts.ts'
import { tokenSentences } from './token-sentences.ts'

/** Explains a token. It uses nothing up, and changes nothing. UNAVAILABLE; errors of grants. */
export async function explainToken(
  context: Context,
  { token }: ExplainTokenRequest,
  call: Call,
): Promise<ExplainTokenResponse> {
  // As it stands in a header.
  const text = token.trim().replace(/^(Bearer|DPoP) +/i, '')
  const found =
    (await explainStored(context, text, call)) ??
    (await explainGrant(context, text, call)) ??
    (await explainJwt(context, text))
  if (!found || (found.of && !(await mayRead(found.of, call)))) return show(unknown)
  const { of, ...facts } = found
  return show({ ...facts, userId: of?.userId ?? '', organizationId: of?.organizationId ?? '' })
}

const unknown = { kind: TokenKind.TOKEN_KIND_UNSPECIFIED, reason: TokenReason.TOKEN_REASON_UNKNOWN }

function show(facts: Partial<ExplainTokenResponse>): ExplainTokenResponse {
  const { reason = TokenReason.TOKEN_REASON_UNSPECIFIED, ground } = facts
  return {
    ...ExplainTokenResponse.decode(new Uint8Array()),
    ...facts,
    active: reason === TokenReason.TOKEN_REASON_UNSPECIFIED,
    reason,
    sentence: ground?.sentence ?? tokenSentences[reason],
  }
}

async function mayRead({ userId, organizationId, human }: NonNullable<TokenFacts['of']>, call: Call): Promise<boolean> {
  if (userId === call.caller.userId) return true
  const permission = human ? 'session.read' : 'user.read'
  return holds(await callerIn(call, organizationId), permission, organizationId)
}
