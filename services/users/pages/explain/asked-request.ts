import {
  type ExplainSignInRequest,
  SignInRequestPhase,
  type SignInRequestState,
} from '#gen/roster/users/v1/session_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { SignedInUser } from '../../openid/authorization/facts-of.ts'
import { knownAcr } from '../../openid/acr.ts'
import type { RequestFacts } from '../../openid/judge/facts.ts'
import { isSignIn } from '../../openid/request/parameters.ts'
import { readRequest } from '../../openid/request/read-request.ts'
import { readScopes } from '../../openid/request/read-scopes.ts'
import { mayBeAnybodys } from '../../openid/request/redirect-uri.ts'
import { requestFacts } from '../../openid/request/request-facts.ts'
import { findRequest, type RequestRow } from '../../openid/request/request-row.ts'

/** The request that an explanation is about: one that began, or one that is described. */
export interface AskedRequest {
  /** Undefined: one that is described, and that the application may not make with these scopes. */
  facts: RequestFacts | undefined
  /** The session that it goes on with; empty: none. */
  sessionId: string
  /** Undefined: none is asked for. Null: none that the caller may know. */
  row: RequestRow | null | undefined
}

/** Finds it, or makes it of its description. UNAVAILABLE. */
export async function findAskedRequest(
  context: Context,
  request: ExplainSignInRequest,
  { asked, seesProject, now }: { asked: Omit<SignedInUser, 'sessionId'>; seesProject: boolean; now: Date },
  call: Call,
): Promise<AskedRequest> {
  const { requestId, sessionId } = request
  const found =
    requestId === '' ? undefined : ((await findRequest(context, requestId, 'explanation', isSignIn)) ?? null)
  const isOf = found?.parameters.clientId === asked.application.clientId
  const row = found && isOf && (seesProject || found.userId === asked.userId) ? found : found && null
  if (!row) return { facts: describedFacts(request, asked, now), sessionId, row }
  const reading = await readRequest(context, row.parameters, call)
  const facts = requestFacts('asked' in reading ? reading.asked : undefined, row.beganAt, row.progress)
  return { facts, sessionId: row.sessionId ?? sessionId, row }
}

/** What an answer says of the request that began. */
export function stateOfRequest(row: RequestRow | null | undefined): SignInRequestState | undefined {
  if (row === undefined) return undefined
  if (row === null)
    return {
      phase: SignInRequestPhase.SIGN_IN_REQUEST_PHASE_UNKNOWN,
      beganDate: undefined,
      expirationDate: undefined,
    }
  return { phase: phaseOf(row), beganDate: row.beganAt, expirationDate: row.expiresAt }
}

function phaseOf({ answer, isOver }: RequestRow): SignInRequestPhase {
  if (answer === 'given') return SignInRequestPhase.SIGN_IN_REQUEST_PHASE_ANSWERED
  if (answer === 'cancelled') return SignInRequestPhase.SIGN_IN_REQUEST_PHASE_CANCELLED
  return isOver ? SignInRequestPhase.SIGN_IN_REQUEST_PHASE_EXPIRED : SignInRequestPhase.SIGN_IN_REQUEST_PHASE_WAITS
}

function describedFacts(
  { scopes, prompts, maxAge, acrValues, acrIsEssential, redirectUri, hintedUserId }: ExplainSignInRequest,
  { application: { oidc }, project }: Omit<SignedInUser, 'sessionId'>,
  now: Date,
): RequestFacts | undefined {
  const asked = readScopes(scopeOf(scopes), project.id, oidc)
  if ('rule' in asked) return undefined
  return {
    beganAt: now,
    prompts,
    maxAge,
    hintedUser: hintedUserId || undefined,
    organizationScope: asked.organizationScope,
    scopes: asked.scopes,
    claimScopes: [],
    acr: acrValues.length > 0 ? { values: knownAcr(acrValues), isEssential: acrIsEssential } : undefined,
    passedOver: [],
    chosen: false,
    decided: false,
    needsClick: mayBeAnybodys(redirectUri || (oidc.redirectUris[0] ?? ''), oidc),
  }
}

/** The parameter of a request that is described. */
export function scopeOf(scopes: string[]): string {
  return scopes.join(' ') || 'openid'
}
