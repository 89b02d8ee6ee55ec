import type { AggregateKey } from '#lib/eventstore/aggregate'
/** The aggregate of what a user lets an application have. Its id is `<application id>-<user id>`. */
export const consentType = 'user.consent'

/** The events of a consent. */
export type ConsentEvent =
  | { type: 'given'; payload: { userId: string; applicationId: string; scopes: string[] } }
  | { type: 'withdrawn'; payload: { userId: string; applicationId: string } }

export interface Consent {
  userId: string
  applicationId: string
  scopes: string[]
  /** The user lets the application be used, though it was given no scope at first. */
  withoutScope?: true
  /** How often it was taken back. Missing: never. */
  withdrawals?: number
}

/** Names the consent of a user to an application. */
export function consentKey(applicationId: string, userId: string): AggregateKey<Consent> {
  return { type: consentType, id: `${applicationId}-${userId}` }
}

export function evolveConsent(consent: Consent | undefined, { type, payload }: ConsentEvent): Consent {
  if (type === 'withdrawn') return { ...payload, scopes: [], withdrawals: (consent?.withdrawals ?? 0) + 1 }
  const scopes = [...new Set([...(consent?.scopes ?? []), ...payload.scopes])]
  return { ...consent, ...payload, scopes, ...(scopes.length === 0 && { withoutScope: true }) }
}

/** Whether the user lets the application be used: nothing was ever given, or all was taken back, where this is false. */
export function isGiven(consent: Consent | undefined): boolean {
  return consent !== undefined && (consent.scopes.length > 0 || consent.withoutScope === true)
}
