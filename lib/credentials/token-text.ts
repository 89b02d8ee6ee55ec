import { createHash, randomBytes } from 'node:crypto'

/** A new bearer token or secret: 256 random bits. It is shown once and never stored. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/** The stored form of a token or secret. Both are so random that a slow hash would not protect them better. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
