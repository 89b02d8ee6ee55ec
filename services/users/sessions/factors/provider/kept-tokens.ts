import type { ProviderTokens } from '#gen/roster/idp/v1/internal_service'
import { orUnavailable, type Sql, type Write } from '#lib/database/database'
import { decryptJson, encryptJson } from '#lib/encryption/encrypted-text'
import type { Context } from '../../../context.ts'
import { personalKey } from '../../../directory/secrets/personal-key.ts'

type Of = { userId: string; idpId: string }

/** The tokens of a person as they are stored. Undefined where there are none, or the person is erased. */
export async function sealTokens(
  context: Pick<Context, 'sql' | 'personal'>,
  of: Of,
  tokens: ProviderTokens | undefined,
): Promise<string | undefined> {
  const key = tokens && (await personalKey(context, of.userId))
  return key && encryptJson(key, tokens, placeOf(of))
}

/** The session of a person at a provider, and what the provider gave for it, as long as its record keeps that and names who gave it. */
export async function findKeptTokens(
  context: Pick<Context, 'sql' | 'personal'>,
  { sessionId, userId }: { sessionId: string; userId: string },
): Promise<{ idpId: string; tokens: ProviderTokens } | undefined> {
  const [row] = await orUnavailable(context.sql<{ idpId: string; tokens: string; receiver: string | null }[]>`
    select s.idp_id as "idpId", s.tokens, p.receiver from provider_sessions s join identity_providers p using (idp_id)
    where s.session_id = ${sessionId} and s.user_id = ${userId} and s.tokens is not null and p.keeps_tokens
  `)
  const tokens = row && (await openTokens(context, { userId, idpId: row.idpId, tokens: row.tokens }))
  return tokens && tokens.receiver === row.receiver ? { idpId: row.idpId, tokens } : undefined
}

/** Undefined where the person is erased. */
export async function openTokens(
  context: Pick<Context, 'sql' | 'personal'>,
  { tokens, ...of }: Of & { tokens: string },
): Promise<ProviderTokens | undefined> {
  const key = await personalKey(context, of.userId)
  return key && (decryptJson(key, tokens, placeOf(of)) as ProviderTokens)
}

/** Forgets what a provider gave for a person. */
export function forgetTokens({ userId, idpId }: Of): Write {
  return (sql) => sql`update provider_sessions set tokens = null where user_id = ${userId} and idp_id = ${idpId}`
}

/** Forgets what a provider gave for everybody. UNAVAILABLE STORE_UNAVAILABLE. */
export async function forgetAllTokens(sql: Sql, idpId: string): Promise<void> {
  await orUnavailable(sql`update provider_sessions set tokens = null where idp_id = ${idpId} and tokens is not null`)
}

// What is kept of one person and provider is good for no other.
function placeOf({ userId, idpId }: Of): string {
  return `provider-tokens/${userId}/${idpId}`
}
