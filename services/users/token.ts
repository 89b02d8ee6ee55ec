import { createHash, randomBytes } from 'node:crypto'
import { type Insert, orUnavailable, type Sql, type Transaction } from '#lib/eventstore/database'
import { isActive } from './states/user-state.ts'
import type { User } from './vocabulary/user.ts'

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
  /** The personal access token, key or secret of a machine that the token is or was obtained with; a session's has none. */
  credentialId?: string
  /** Null: does not expire. */
  expiresAt: Date | null
  /** Of a personal access token: that of the access token it was made with. It is worth no more. */
  scope?: string | undefined
  /** Of an access token alone. */
  access?: AccessToken
}

/** What an access token was issued for. */
export interface AccessToken {
  tokenId: string
  scope: string
  /** Who owns the project that the scope names; empty without one. */
  projectOrganizationId: string
  issuedAt: Date
  /** Of the key that it is bound to; null where it is not. */
  dpopThumbprint: string | null
}

/** Stores a token by its hash alone. */
export function storeToken(token: string, row: TokenRow): Insert {
  return { row: tokenRow(token, row), into: insertTokens }
}

/** A token as a row of its table. */
export function tokenRow(token: string, { access, ...own }: TokenRow): object {
  return {
    hash: `\\x${hashToken(token).toString('hex')}`,
    user_id: own.userId,
    organization_id: own.organizationId,
    human: own.human,
    session_id: own.sessionId,
    credential_id: own.credentialId ?? '',
    expires_at: own.expiresAt,
    token_id: access?.tokenId,
    scope: access?.scope ?? own.scope,
    project_organization_id: access?.projectOrganizationId,
    issued_at: access?.issuedAt,
    dpop_thumbprint: access?.dpopThumbprint,
  }
}

function insertTokens(sql: Transaction, rows: object[]) {
  return sql`
    insert into tokens select * from jsonb_populate_recordset(null::tokens, ${JSON.stringify(rows)}::text::jsonb)
  `
}

/** A token with its user as that is now. */
export interface FoundToken extends TokenRow {
  user: User
}

/** The living token of this hash, of a user that may sign in; undefined where there is none. UNAVAILABLE STORE_UNAVAILABLE. */
export async function findToken(sql: Sql, hash: Uint8Array): Promise<FoundToken | undefined> {
  const [row] = await orUnavailable(sql<(FoundToken & { [F in keyof AccessToken]: AccessToken[F] | null })[]>`
    select user_id as "userId", t.organization_id as "organizationId", human, session_id as "sessionId",
      credential_id as "credentialId", expires_at as "expiresAt", token_id as "tokenId", scope,
      project_organization_id as "projectOrganizationId", issued_at as "issuedAt",
      dpop_thumbprint as "dpopThumbprint", u.state as "user"
    from tokens t join aggregates u on u.type = 'user' and u.id = t.user_id
    where hash = ${hash} and (expires_at is null or expires_at > now())
  `)
  if (!row || !isActive(row.user)) return undefined
  const { tokenId, scope, projectOrganizationId, issuedAt, dpopThumbprint, ...token } = row
  if (tokenId === null || scope === null || projectOrganizationId === null || issuedAt === null)
    return { ...token, ...(scope !== null && { scope }) }
  if (row.user.machine?.dpopRequired && dpopThumbprint === null) return undefined
  return { ...token, access: { dpopThumbprint, tokenId, scope, projectOrganizationId, issuedAt } }
}

/** What is stored in place of a token or a secret: as random as they are, no slower hash would make it safer. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
