import { createHash } from 'node:crypto'

/** PKCE (RFC 7636), method S256: whether a `code_verifier` fits a `code_challenge`. Either both are there, or neither. */
export function isVerified(verifier: string, challenge: string | undefined): boolean {
  return (verifier === '' ? undefined : createHash('sha256').update(verifier).digest('base64url')) === challenge
}
