import type { IDPCheck } from '#gen/roster/idp/v1/idp_check'
import type { ClaimMapping, SecondFactorClaims } from '#gen/roster/idp/v1/idp_claims'
import type { GuardedFetch } from '#lib/outbound/guarded-fetch'
import type { Configurations, Protocol } from '../vocabulary.ts'

/** What Roster says to a provider, and how it gets there. */
export interface Upstream<P extends Protocol = Protocol> {
  configuration: Configurations[P]
  /** The client secret; or why there is none to send. */
  secret: { secret: string } | { fault: string }
  /** Which claim holds what. Missing: those of OpenID Connect. */
  mapping?: ClaimMapping | undefined
  /** Where the provider sends browsers back to. */
  redirectUri: string
  /** Bounded in bytes and time, without redirects, and only to where Roster may call. */
  fetch: GuardedFetch
  /** How far PostgreSQL's clock is ahead of this process's, in milliseconds. */
  clockAhead: number
}

/** What a begun sign-in keeps until the provider's answer: secrets of its own, that no other answer fits. */
export interface Begun {
  state: string
  nonce: string
  codeVerifier: string
}

/** What the request of an application asks a provider for. */
export interface Wish {
  /** Who is expected: it fills a field at the provider, and chooses nobody. */
  loginHint?: string | undefined
  /** The person signs in at the provider again. */
  promptsLogin?: boolean
  /** Seconds since the person signed in there, at most. */
  maxAge?: number | undefined
}

/** Whom a provider proved: by issuer and subject, byte for byte. The rest is its word, and decides nothing here. */
export interface Proved {
  issuer: string
  subject: string
  /** When the person signed in there; undefined where the provider does not say. */
  authTime: Date | undefined
  claims: ProviderClaims
  /** All that the provider itself said, as it came. */
  said: Record<string, unknown>
  /** How the person signed in there, where the provider signs it. */
  methods?: SecondFactorClaims
  /** What the provider gave for the person. Missing: nothing that applications could use. */
  tokens?: GivenTokens
  /** The person's session at the provider, by which it says later that it is over. */
  sid?: string | undefined
  /** The proof serves once: what tells it again, without its content, and for how long. */
  once?: { of: string; seconds: number }
}

/** What a provider gave for a person. A refresh token serves nobody but Roster, which does not use it. */
export interface GivenTokens {
  accessToken: string
  /** Seconds that it counts. Undefined: the provider does not say. */
  expiresIn: number | undefined
  /** Undefined: the scopes that were asked for. */
  scope: string | undefined
  idToken?: string | undefined
}

export interface ProviderClaims {
  email?: string
  /** The provider itself vouches for the address. */
  emailVerified?: true
  givenName?: string
  familyName?: string
  nickName?: string
  name?: string
  preferredUsername?: string
  locale?: string
}

/** Why nobody was proved. `denied`: the person or the provider did not want to. The words are for the log. */
export type FaultOfAnswer = 'denied' | 'not-asked-for' | 'not-available' | 'not-believed'

export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  readonly fault: FaultOfAnswer

  constructor(fault: FaultOfAnswer, message: string, cause?: unknown) {
    super(message, { cause })
    this.fault = fault
  }
}

/** The work of a protocol: a folder for each. */
export interface ProtocolWork<P extends Protocol> {
  /** Looks at a provider, in the order in which a sign-in needs it. */
  test(upstream: Upstream<P>): Promise<IDPCheck[]>
}

/** The work of a protocol that people sign in by. */
export interface SigningInWork<P extends Protocol> extends ProtocolWork<P> {
  /** Where the browser goes. Throws UpstreamError. */
  begin(upstream: Upstream<P>, begun: Begun, wish: Wish): Promise<URL>
  /**
   * Whom the answer proves that came back to the redirect URI of this provider, in the browser that began. `tokens` are the
   * values of the header of the record, if it has one. Throws UpstreamError.
   */
  callback(upstream: Upstream<P>, begun: Begun, wish: Wish, answer: URLSearchParams, tokens?: string[]): Promise<Proved>
}

/** Who has signed out at a provider: a person, all of whose sessions end, or one session. One of the two may be empty. */
export interface LoggedOut {
  issuer: string
  subject: string
  sid: string
  once: { of: string; seconds: number }
}

/** What a browser brings to a sign-out at a provider. */
export interface SignOutThere {
  state: string
  /** The ID token that the provider gave. Undefined: none was kept. */
  idTokenHint: string | undefined
  /** Where the provider sends the browser back to. */
  returnUri: string
  uiLocales: string
}

/** The work of a protocol whose providers say that somebody has signed out there. */
export interface LoggingOutWork<P extends Protocol> extends SigningInWork<P> {
  /** Where a browser signs out there. Undefined: the provider has no such address. Throws UpstreamError. */
  endSession(upstream: Upstream<P>, sent: SignOutThere): Promise<URL | undefined>
  /** Whom a logout token names. Throws UpstreamError. */
  loggedOut(upstream: Upstream<P>, token: string): Promise<LoggedOut>
}
