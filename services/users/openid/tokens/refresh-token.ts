import { randomBytes } from 'node:crypto'
import type { Keyring } from '#lib/encryption/keys'
import { makeSecret, readSecret } from '../../directory/secrets/secret.ts'
import type { RefreshToken } from '../events/refresh-tokens.ts'

/** What a refresh token says that an application presents. */
export interface PresentedToken extends RefreshToken {
  authorizationId: string
}

/** The text of a refresh token. It is derived: each replica makes the same of the same record. */
export function makeRefreshToken(keys: Keyring, { authorizationId, number, step }: PresentedToken): string {
  return makeSecret(keys, 'refresh-token', [authorizationId, String(number), step])
}

/** Undefined for any other text. */
export function readRefreshToken(keys: Keyring, text: string): PresentedToken | undefined {
  const [authorizationId, number, step] = readSecret(keys, 'refresh-token', text) ?? []
  return authorizationId === undefined ? undefined : { authorizationId, number: Number(number), step: step! }
}

/** What the next one is derived from. */
export function newStep(): string {
  return randomBytes(16).toString('base64url')
}
