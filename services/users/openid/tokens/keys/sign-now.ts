import { type KeyObject, sign } from 'node:crypto'

/** The `typ` of a receipt's header. Receivers of access tokens want another one. */
export const receiptType = 'roster-receipt+jwt'

/**
 * A JWS in its compact form, at once: jose answers later, but what is stored with a change must be there before it.
 */
export function signNow(header: { alg: string; kid: string; typ: string }, content: object, key: KeyObject): string {
  const text = [header, content].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const digest = header.alg === 'EdDSA' ? null : 'sha256'
  const signature = sign(digest, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}
