import type { Keyring } from '#lib/encryption/keys'
import { readSecret } from '../../directory/secrets/secret.ts'
import type { Granted } from '../events/authorization.ts'

/** Characters of the longest code: servers take a few thousand in the address of a callback. */
const longest = 2000

/** An authorization that nothing is stored of before its code is redeemed. */
export interface SealedGrant {
  authorizationId: string
  organizationId: string
  projectOrganizationId: string
  /** Its first event. */
  granted: Granted
  /** Of the request, for the ID token. */
  nonce: string
  /** When the code was given, RFC 3339. */
  givenAt: string
}

/** A code that carries its authorization, encrypted and authenticated. Undefined where it would be too long. */
export function sealCode(keys: Keyring, grant: SealedGrant): string | undefined {
  const text = keys.encrypt('sealed-code', JSON.stringify(grant)).toString('base64url')
  return text.length > longest ? undefined : text
}

// Undefined for a text that `sealCode` did not make with these keys and the present salt.
function openCode(keys: Keyring, text: string): SealedGrant | undefined {
  const bytes = Buffer.from(text, 'base64url')
  // No other text stands for the same code.
  if (text.length > longest || bytes.toString('base64url') !== text) return undefined
  try {
    return JSON.parse(keys.decrypt('sealed-code', bytes)) as SealedGrant
  } catch {
    return undefined
  }
}

/** What a code says: where its authorization is stored, the id alone. */
export interface ReadCode {
  authorizationId: string
  sealed?: SealedGrant
}

/** Undefined for a text that is no code of this installation. */
export function readCode(keys: Keyring, text: string): ReadCode | undefined {
  const sealed = openCode(keys, text)
  if (sealed) return { authorizationId: sealed.authorizationId, sealed }
  const [authorizationId] = readSecret(keys, 'code', text) ?? []
  return authorizationId === undefined ? undefined : { authorizationId }
}
