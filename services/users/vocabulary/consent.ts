/** The aggregate of what a user lets an application have. Its id is `<application id>-<user id>`. */
export const consentType = 'user.consent'

/** The events of a consent. */
export type ConsentEvent =
  | { type: 'given'; payload: { userId: string; applicationId: string; scopes: string[] } }
  | { type: 'withdrawn'; payload: { userId: string; applicationId: string } }

export interface Consent {
  userId: string
  applicationId: string
  /** Empty: it was taken back. */
  scopes: string[]
  /** How often it was taken back. Missing: never. */
  withdrawals?: number
}

export function evolveConsent(consent: Consent | undefined, { type, payload }: ConsentEvent): Consent {
  if (type === 'withdrawn') return { ...payload, scopes: [], withdrawals: (consent?.withdrawals ?? 0) + 1 }
  return { ...consent, ...payload, scopes: [...new Set([...(consent?.scopes ?? []), ...payload.scopes])] }
}
