import { orUnavailable, type Sql } from '#lib/database/database'
import type { Log } from '#lib/log'
import type { Service } from '#lib/process'
import type { Context, CredentialUse, CredentialUses } from '../../context.ts'
import type { Credential } from '../events/credentials.ts'
import type { TokenRow } from '../tokens/token.ts'
import { openHourlyUses } from './hourly-uses.ts'

/** A credential with the hour of its last use. */
export interface Used {
  usedAt: Date | undefined
}

/**
 * Opens the notes of uses of machines' credentials. A credential that is older than the table gets its row here. One that is
 * removed meanwhile leaves a row, which goes with the next change of the machine's credentials.
 */
export function openCredentialUses(sql: Sql, log: Log): CredentialUses & Service {
  return openHourlyUses<CredentialUse>(log, {
    what: 'credentials',
    idOf: ({ credentialId }) => credentialId,
    async store(uses) {
      const rows = uses.map((use) => ({
        credential_id: use.credentialId,
        user_id: use.userId,
        organization_id: use.organizationId,
        kind: use.kind,
        ends_at: use.expiresAt ?? null,
      }))
      const [row] = await sql<{ left: number }[]>`
        with noted as (
          insert into machine_credentials (credential_id, user_id, organization_id, kind, ends_at, used_at)
          select credential_id, user_id, organization_id, kind, ends_at, date_trunc('hour', roster_now())
          from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as u (
            credential_id text, user_id text, organization_id text, kind text, ends_at timestamptz
          )
          order by credential_id
          on conflict (credential_id) do update set used_at = excluded.used_at
          where machine_credentials.used_at is null or machine_credentials.used_at < excluded.used_at
        )
        select extract(epoch from date_trunc('hour', roster_now()) + interval '1 hour' - roster_now())::float * 1000 as left
      `
      return row!.left
    },
  })
}

/** Notes the use of a personal access token; of any other token nothing. */
export function noteUse({ credentialUses }: Pick<Context, 'credentialUses'>, token: TokenRow): void {
  const { credentialId = '', access, userId, organizationId, expiresAt } = token
  if (credentialId === '' || access) return
  credentialUses.note({ credentialId, kind: 'pat', userId, organizationId, expiresAt })
}

/** Adds to credentials when each was last used. UNAVAILABLE STORE_UNAVAILABLE: without it one in use would look unused. */
export async function withUses<Shown extends Credential>(
  { sql }: Pick<Context, 'sql'>,
  credentials: Shown[],
): Promise<(Shown & Used)[]> {
  if (credentials.length === 0) return []
  const uses = await orUnavailable(sql<{ id: string; usedAt: Date }[]>`
    select credential_id as id, used_at as "usedAt" from machine_credentials
    where credential_id = any(${credentials.map(({ id }) => id)}::text[]) and used_at is not null
  `)
  const byId = new Map(uses.map(({ id, usedAt }) => [id, usedAt]))
  return credentials.map((credential) => ({ ...credential, usedAt: byId.get(credential.id) }))
}
