import type { Config } from '../../../config.ts'

/** The domain that passkeys are made for, and the origins of the pages that may use them. */
export interface RelyingParty {
  id: string
  origins: string[]
}

export function relyingParty({
  PUBLIC_URL,
  PASSKEY_RP_ID,
  PASSKEY_ORIGINS,
}: Pick<Config, 'PUBLIC_URL' | 'PASSKEY_RP_ID' | 'PASSKEY_ORIGINS'>): RelyingParty {
  return { id: PASSKEY_RP_ID || new URL(PUBLIC_URL).hostname, origins: [PUBLIC_URL, ...PASSKEY_ORIGINS] }
}
