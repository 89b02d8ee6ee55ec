import postgres from 'postgres'
import type { Sql } from '#lib/database/database'
import { driverOptions } from '#lib/database/database-url'
import { readServerUrls } from '#lib/config/server-urls'
import type { StoringService } from '../deploy/provision.ts'

/** Milliseconds that a server has to let the command in. */
export const patience = 5000

/** Connects to the schema of a service, by the role that reads this one alone. */
export function openSchema(url: string, service: StoringService, settings: Record<string, unknown> = {}): Sql {
  const { url: first, ...options } = driverOptions(url)
  const asReader = new URL(first)
  asReader.username += `_${service}`
  // Without the right to write, the session itself is one that only reads.
  const wanted = asReader.searchParams.get('target_session_attrs')
  return postgres(asReader.href, {
    ...options,
    ...(wanted === 'read-write' && { target_session_attrs: 'primary' }),
    // A second connection would not have the temporary tables of `verify`.
    max: 1,
    max_lifetime: null,
    connect_timeout: patience / 1000,
    onnotice: () => {},
    connection: {
      application_name: 'roster-operator',
      search_path: `roster_${service}`,
      statement_timeout: 30_000,
      // As in the services: every statement finds its rows by an index, and none is compiled.
      enable_seqscan: 'off',
      enable_hashjoin: 'off',
      enable_mergejoin: 'off',
      jit: 'off',
      ...settings,
    },
  })
}

/**
 * Says why the PostgreSQL of a URL takes no writes. Undefined where it does, and where it does not answer: the command
 * itself reports that.
 */
export async function whyItOnlyReads(url: string): Promise<string | undefined> {
  const place = `PostgreSQL at ${readServerUrls(url)!.hosts.join(', ')}`
  const sql = openSchema(url, 'users')
  try {
    // The setting is the server's own: this session has none of the command's.
    const [found] = await sql.unsafe<[{ isStandby: boolean; isReadOnly: boolean }]>(
      `select pg_is_in_recovery() as "isStandby", current_setting('transaction_read_only')::bool as "isReadOnly"`,
    )
    if (found.isStandby) return `${place} is a standby, which may lag behind and takes no writes`
    return found.isReadOnly ? `${place} takes no writes, because of default_transaction_read_only` : undefined
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'WRONG_SESSION_ATTRS') return undefined
    return `${place} is not what target_session_attrs asks for: ${(error as Error).message}`
  } finally {
    await sql.end({ timeout: 1 })
  }
}
