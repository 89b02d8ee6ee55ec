import type { Config } from '../../../config.ts'

/** The domain that passkeys are made for, and the origins of the pages that may use them. */
export interface RelyingParty {
  id: string
  origins: string[]
}

type Named = Pick<Config, 'PUBLIC_URL' | 'PASSKEY_RP_ID'>

export function relyingParty(config: Named & Pick<Config, 'PASSKEY_ORIGINS'>): RelyingParty {
  return { id: relyingPartyId(config), origins: [config.PUBLIC_URL, ...config.PASSKEY_ORIGINS] }
}

export function relyingPartyId({ PUBLIC_URL, PASSKEY_RP_ID }: Named): string {
  return PASSKEY_RP_ID || new URL(PUBLIC_URL).hostname
}
