import { firstToken, nextToken, type RefreshToken, type RefreshTokens } from './refresh-tokens.ts'
import type { AcrValue } from '../acr.ts'
import type { Factor } from '../../sessions/events/session.ts'

/** The aggregate of what a person gave an application, once for each code. */
export const authorizationType = 'authorization'

/** The events of an authorization. */
export type AuthorizationEvent =
  | { type: 'granted'; payload: Granted }
  /** The code became tokens. */
  | { type: 'redeemed'; payload: Redeemed }
  /** The newest refresh token was used for the first time. The number and the step are those of the next one. */
  | { type: 'refreshed'; payload: RefreshToken & Refreshed }
  /** A right code or refresh token was presented in a wrong way. Nothing changed. */
  | { type: 'refused'; payload: { what: 'code' | 'refresh-token'; reason: RefusalReason } }
  /** An access token was revoked by its application. */
  | { type: 'token.revoked'; payload: { userId: string; tokenId: string } }
  /** It is over for good, with all its tokens. */
  | AuthorizationEnded

export interface AuthorizationEnded {
  type: 'ended'
  payload: { userId: string; applicationId: string; reason: EndReason }
}

export interface Granted {
  userId: string
  applicationId: string
  projectId: string
  sessionId: string
  /** Separated by blanks. */
  scope: string
  /** Claims that were asked for by name, such as `id_token.email` and `userinfo.name`. */
  claims: string[]
  /** The only organization whose people the request was for. */
  organizationScope?: string
  redirectUri: string
  /** Of PKCE, S256. Missing: the application sent none. */
  challenge?: string
  /** Of the key that the code is bound to. */
  dpopThumbprint?: string
  /** RFC 3339. */
  authTime: string
  factors: Factor[]
  /** What tokens name as `acr`. Missing: the lowest, as former releases did always. */
  acr?: AcrValue
  /** The trusted browser of its session, which stands in for a second factor until that is ended. Missing: none. */
  trustId?: string
  /** A refresh token comes with it. */
  offline: boolean
  /** It ends with its session, though it may have a refresh token. */
  endsWithSession: boolean
  rounds: Revisions
  /** What let the person into the project, where that checks who comes: events of grants. It is over without them. */
  admittedBy?: string[]
}

/** What an authorization stands on: where one differs, it is over for good. */
export interface Revisions {
  /** How often all sessions of the user had been ended. */
  user: number
  /** The sequences of what is known of their closing; 0 where they never were closed. */
  organization: number
  projectOrganization: number
  application: number
  project: number
  /** How often the user had taken the consent back. */
  consent: number
}

export interface Redeemed {
  /** Of the first access token. */
  tokenId: string
  /** Of the key that it is bound to. */
  dpopThumbprint?: string
  /** Of the first refresh token, if one came with it, as in `refreshed`. */
  refresh?: { step: string; expiresAt: string }
}

/**
 * `client`: it is another's. `redirect-uri`, `verifier`, `key`: that is not what the code was made for. `factor`: the
 * policy asks for a further one by now.
 */
export type RefusalReason = 'client' | 'redirect-uri' | 'verifier' | 'key' | 'factor'

/**
 * `code-reuse`: the code came twice. `expired`: it, or the refresh token, came too late. `refresh-reuse`: a refresh token
 * came again, too late to be a repetition. `revoked`: the application gave it up. `signed-out`: the session, or all of the
 * user, ended. `surplus`: there were too many. `shut-out`: the user, the organization, the application or the project is,
 * or was meanwhile, or the session is over.
 */
export type EndReason = 'code-reuse' | 'expired' | 'refresh-reuse' | 'revoked' | 'signed-out' | 'surplus' | 'shut-out'

export interface Refreshed {
  tokenId: string
  scope: string
  expiresAt: string
  /** As in `granted`, where it is another by now. */
  admittedBy?: string[]
}

export interface Authorization extends Granted {
  redeemed?: Redeemed
  refreshTokens?: RefreshTokens
  ended?: EndReason
}

export function evolveAuthorization(
  authorization: Authorization | undefined,
  { type, payload }: AuthorizationEvent,
  at: Date,
): Authorization {
  if (type === 'granted') return payload
  if (authorization === undefined) throw new Error(`an authorization begins with ${type}`)
  if (type === 'redeemed') {
    const { refresh, ...redeemed } = payload
    return { ...authorization, redeemed, ...(refresh && { refreshTokens: firstToken(refresh, at) }) }
  }
  if (type === 'refreshed') {
    const { admittedBy = authorization.admittedBy } = payload
    const refreshTokens = nextToken(authorization.refreshTokens!, payload, at)
    return { ...authorization, ...(admittedBy && { admittedBy }), refreshTokens }
  }
  return type === 'ended' ? { ...authorization, ended: payload.reason } : authorization
}

/** The event of its end. */
export function endOf({ userId, applicationId }: Authorization, reason: EndReason): AuthorizationEnded {
  return { type: 'ended', payload: { userId, applicationId, reason } }
}
