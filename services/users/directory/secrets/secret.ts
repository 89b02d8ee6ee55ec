import { timingSafeEqual } from 'node:crypto'
import type { Keyring } from '#lib/encryption/keys'
import type { PurposesWith } from './purposes.ts'

/** What a text is for. Its purpose has a prefix. */
export type SecretKind = AfterPrefix<PurposesWith<{ form: 'text' }>>
type AfterPrefix<Purpose> = Purpose extends `secret-${infer Kind}` ? Kind : never

const [idBytes, macBytes] = [4, 32]

/** The text of a secret. It is derived from the record, which the text contains readably, and is stored nowhere. */
export function makeSecret(keys: Keyring, kind: SecretKind, record: string[]): string {
  const body = JSON.stringify(record)
  const mac = keys.mac(`secret-${kind}`, keys.currentId, [body])
  return Buffer.concat([Buffer.from(keys.currentId, 'hex'), mac, Buffer.from(body)]).toString('base64url')
}

/** The record of a text that `makeSecret` made for this purpose; undefined for any other. */
export function readSecret(keys: Keyring, kind: SecretKind, text: string): string[] | undefined {
  const bytes = Buffer.from(text, 'base64url')
  // No other text stands for the same secret.
  if (bytes.length <= idBytes + macBytes || bytes.toString('base64url') !== text) return undefined
  const body = bytes.subarray(idBytes + macBytes).toString()
  const mac = macOf(keys, kind, bytes.subarray(0, idBytes).toString('hex'), body)
  if (!mac || !timingSafeEqual(mac, bytes.subarray(idBytes, idBytes + macBytes))) return undefined
  return JSON.parse(body) as string[]
}

// The key may be gone.
function macOf(keys: Keyring, kind: SecretKind, keyId: string, body: string): Buffer | undefined {
  try {
    return keys.mac(`secret-${kind}`, keyId, [body])
  } catch {
    return undefined
  }
}
