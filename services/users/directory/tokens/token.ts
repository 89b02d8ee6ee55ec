import { hashToken, newToken } from '#lib/credentials/token-text'
import { type ByFunction, orUnavailable } from '#lib/database/database'
import { subjectKeyOf } from '#lib/encryption/personal'
import type { StoredState } from '#lib/encryption/encrypted-fields'
import { writeAccess } from './access-rows.ts'
import type { Context } from '../../context.ts'
import { sessionSinceOpen } from '../organizations/in-open-organization.ts'
import { isActive } from '../states/user-state.ts'
import type { User } from '../events/user.ts'

export { hashToken, newToken }

/** The stored facts of a token. */
export interface TokenRow {
  userId: string
  organizationId: string
  human: boolean
  /** Empty for a personal access token. */
  sessionId: string
  /** Of a session that lacks a factor. */
  partial?: true | undefined
  /** The personal access token, key or secret that the token is or was obtained with; a session's token has none. */
  credentialId?: string
  /** Null: it does not expire. */
  expiresAt: Date | null
  /** Of a personal access token: the scope of the access token that made it. It may do no more than that one. */
  scope?: string | undefined
  /** Only of an access token. */
  access?: AccessToken
  /** Only of an access token of a person. Every door asks `judge` about it: the row alone opens nothing. */
  authorizationId?: string | undefined
}

/** The purpose that an access token was issued for. */
export interface AccessToken {
  tokenId: string
  scope: string
  /** The organization that owns the project of the scope; empty without a project. */
  projectOrganizationId: string
  issuedAt: Date
  /** The thumbprint of the key that it is bound to; null where it is not bound. */
  dpopThumbprint: string | null
}

/** Stores a token by its hash alone. */
export function storeToken(token: string, row: TokenRow): ByFunction {
  return writeAccess({ token: tokenRow(token, row) })
}

export function tokenRow(token: string, { access, ...own }: TokenRow): object {
  return {
    hash: `\\x${hashToken(token).toString('hex')}`,
    user_id: own.userId,
    organization_id: own.organizationId,
    human: own.human,
    session_id: own.sessionId,
    partial: own.partial,
    credential_id: own.credentialId ?? '',
    expires_at: own.expiresAt,
    token_id: access?.tokenId,
    scope: access?.scope ?? own.scope,
    project_organization_id: access?.projectOrganizationId,
    issued_at: access?.issuedAt,
    dpop_thumbprint: access?.dpopThumbprint,
    authorization_id: own.authorizationId,
  }
}

/** A token with the current state of its user. */
export interface FoundToken extends TokenRow {
  user: User
}

/** A token that is stored, living or not. */
export interface StoredToken {
  token: FoundToken
  /** Undefined: it lives. `closed`: the organization is, or was since. `key`: it has to be bound to one. */
  over: 'expired' | 'closed' | 'user' | 'key' | undefined
}

/**
 * The living token with this hash, of a user that may sign in; undefined where there is none. UNAVAILABLE
 * STORE_UNAVAILABLE.
 */
export async function findToken(
  context: Pick<Context, 'sql' | 'personal'>,
  hash: Uint8Array,
): Promise<FoundToken | undefined> {
  const stored = await findStored(context, hash)
  return stored?.over === undefined ? stored?.token : undefined
}

/** The token with this hash. It is stored until it is taken back, or some minutes after its end. UNAVAILABLE. */
export async function findStored(
  { sql, personal }: Pick<Context, 'sql' | 'personal'>,
  hash: Uint8Array,
): Promise<StoredToken | undefined> {
  const [row] = await orUnavailable(sql<TokenOfUser[]>`
    select user_id as "userId", t.organization_id as "organizationId", human, session_id as "sessionId",
      credential_id as "credentialId", expires_at as "expiresAt", token_id as "tokenId", scope,
      project_organization_id as "projectOrganizationId", issued_at as "issuedAt",
      dpop_thumbprint as "dpopThumbprint", authorization_id as "authorizationId", u.state, u.sequence, ${subjectKeyOf(sql, sql`u.id`)} as key,
      coalesce(expires_at <= roster_now(), false) as "isPast",
      ${sessionSinceOpen(sql, sql`t.organization_id`, sql`t.session_id`)} as "isOpen"
    from tokens t join aggregates u on u.type = 'user' and u.id = t.user_id
    where hash = ${hash}
  `)
  if (!row) return undefined
  const { state, sequence, key, isPast, isOpen, ...found } = row
  const user = personal.decryptState({ type: 'user', id: row.userId, sequence, state, key }) as User | undefined
  if (!user) return undefined
  const { tokenId, scope, projectOrganizationId, issuedAt, dpopThumbprint, authorizationId, ...own } = found
  const token = { ...own, user, ...(authorizationId !== null && { authorizationId }) }
  const over = isPast ? 'expired' : !isOpen ? 'closed' : isActive(user) ? undefined : 'user'
  if (tokenId === null || scope === null || projectOrganizationId === null || issuedAt === null)
    return { token: { ...token, ...(scope !== null && { scope }) }, over }
  const lacksKey = user.machine?.dpopRequired === true && dpopThumbprint === null
  const access = { dpopThumbprint, tokenId, scope, projectOrganizationId, issuedAt }
  return { token: { ...token, access }, over: over ?? (lacksKey ? 'key' : undefined) }
}

type TokenOfUser = Omit<TokenRow, 'authorizationId'> & { [F in keyof AccessToken]: AccessToken[F] | null } & {
  authorizationId: string | null
  isPast: boolean
  isOpen: boolean
} & Omit<StoredState, 'type' | 'id'>
