import type { AggregateKey } from '#lib/eventstore/aggregate'
import type { SecondFactorKind } from '../../directory/events/human.ts'

export type SessionEvent =
  /** Only a session of a browser has a `browserId`. Earlier sessions have none of the last three. */
  | {
      type: 'created'
      payload: {
        userId: string
        expiresAt: string
        factors?: Factor[]
        browserId?: string
        signOuts?: number
        kept?: boolean
        trustId?: string
        loginClientId?: string
      }
    }
  /**
   * Once more, in the same browser, or by the login application that has its token. The session lives on from then.
   * `kept` where that changes.
   */
  | {
      type: 'factor.checked'
      payload: {
        userId: string
        kind: FactorKind
        expiresAt: string
        kept?: boolean
        trustId?: string
      } & CheckOfFactor
    }
  /** A code was made; or a wrong one was tried. */
  | { type: 'factor.challenged' | 'factor.rejected'; payload: { userId: string; kind: FactorKind } }
  /** A code that was given for it was presented in a wrong way, before it was redeemed. Nothing changed. */
  | {
      type: 'code.refused'
      payload: { userId: string; applicationId: string; authorizationId: string; reason: string }
    }
  /** The user went on to an application with it. */
  | { type: 'chosen'; payload: { userId: string; applicationId: string } }
  | { type: 'ended'; payload: { userId: string } }

/** What a person proves to sign in. `mailed-code`: a code by mail as the first factor; as a second one, it is `otp-email`. `provider`: an identity provider. */
export type FactorKind = 'password' | 'mailed-code' | 'provider' | SecondFactorKind

/** What a check of a passkey was. */
export interface CheckOfPasskey {
  /** Its authenticator made sure of the person, by a PIN or a finger. Missing: it did not. */
  userVerified?: boolean
  /** It came to another factor, and opened no session. Missing: it is a first one. */
  second?: boolean
  /** It was made in a session that a link opened which counts for nobody with a role. Missing: it was not. */
  byLink?: true
  /** Who else may have made it, as of Passkey. */
  setBy?: string
}

/** What a check by an identity provider was. */
export interface CheckOfProvider {
  idpId?: string
  /** When the person signed in there, RFC 3339. Missing: the provider does not say. */
  provedAt?: string
  /** The words by which it counts as two factors, as long as the provider's record says so. Missing: none. */
  counted?: string[]
}

export interface CheckOfFactor extends CheckOfPasskey, CheckOfProvider {}

export interface Factor extends CheckOfFactor {
  kind: FactorKind
  /** When it was checked, RFC 3339. */
  at: string
  /** Of an authorization: it was older than the application asked for, so tokens do not name it. Missing: it was not. */
  stale?: boolean
}

export interface Session {
  userId: string
  expiresAt: string
  ended: boolean
  /** The last check of each kind. */
  factors?: Factor[]
  browserId?: string
  /** How often all sessions of the user had been ended when it began. */
  signOuts?: number
  /** The person stays signed in: it outlives the browser that is closed, and others. */
  kept?: boolean
  /** The trusted browser in which its last first factor was checked: it stands in for a second one. */
  trustId?: string
  /** The login application that it began at: the user of its token. */
  loginClientId?: string
}

/** Names a session. */
export function sessionKey(id: string): AggregateKey<Session> {
  return { type: 'session', id }
}

export function evolveSession(session: Session | undefined, event: SessionEvent, at: Date): Session {
  if (event.type === 'created') return { ...event.payload, ended: false }
  if (session === undefined) throw new Error(`a session begins with ${event.type}`)
  if (event.type === 'ended') return { ...session, ended: true }
  if (event.type !== 'factor.checked') return session
  const { kind, expiresAt, kept = session.kept, userVerified, second, idpId, provedAt, counted } = event.payload
  const { byLink, setBy } = event.payload
  const otherFactors = (session.factors ?? []).filter((factor) => factor.kind !== kind)
  const check = {
    ...(userVerified && { userVerified }),
    ...(second && { second }),
    ...(idpId && { idpId }),
    ...(provedAt && { provedAt }),
    ...(counted && { counted }),
    ...(byLink && { byLink }),
    ...(setBy && { setBy }),
  }
  const factors = [...otherFactors, { kind, at: at.toISOString(), ...check }]
  // A later first factor may come from elsewhere, so each check says it.
  const { trustId: _, ...others } = session
  const { trustId } = event.payload
  return {
    ...others,
    expiresAt,
    factors,
    ...(kept !== undefined && { kept }),
    ...(trustId !== undefined && { trustId }),
  }
}
