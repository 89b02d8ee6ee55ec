import { createHash, randomBytes } from 'node:crypto'
import type { Write } from '#lib/eventstore/database'

/** A new bearer token: 256 random bits. It is shown once and never stored. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/** What is stored of a token. */
export interface TokenRow {
  userId: string
  organizationId: string
  human: boolean
  /** Empty for a personal access token. */
  sessionId: string
  /** Null: does not expire. */
  expiresAt: Date | null
}

/** Stores a token by its hash alone. */
export function storeToken(token: string, row: TokenRow): Write {
  return (sql) => sql`
    insert into tokens (hash, user_id, organization_id, human, session_id, expires_at)
    values (${hashToken(token)}, ${row.userId}, ${row.organizationId}, ${row.human}, ${row.sessionId}, ${row.expiresAt})
  `
}

/** What is stored in place of a token or a secret: as random as they are, no slower hash would make it safer. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
