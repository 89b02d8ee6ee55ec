import postgres from 'postgres'
import type { Sql } from '#lib/database/database'
import { driverOptions } from '#lib/database/database-url'
import { lookAtHosts, refuseSeveralPrimaries } from '#lib/database/look-at-hosts'
import { readServerUrls } from '#lib/config/server-urls'
import { sessionSettings, type Settings } from '#lib/database/session-settings'
import type { StoringService } from '../deploy/provision.ts'

/** Milliseconds that a server has to let the command in. */
export const patience = 5000

/** Connects to the schema of a service, by the role that reads this one alone. */
export function openSchema(url: string, service: StoringService, settings: Settings = {}): Sql {
  // Every statement finds its rows by an index, and none is compiled, as in the services.
  const own = { ...sessionSettings, search_path: `roster_${service}`, ...settings }
  const { url: first, ...options } = driverOptions(url, own)
  const asReader = new URL(first)
  asReader.username += `_${service}`
  const wanted = asReader.searchParams.get('target_session_attrs') ?? (options.host ? 'read-write' : '')
  return postgres(asReader.href, {
    ...options,
    // Without the right to write, the session itself is one that only reads.
    ...(wanted === 'read-write' && { target_session_attrs: 'primary' }),
    // A second connection would not have the temporary tables of `verify`.
    max: 1,
    max_lifetime: null,
    connect_timeout: patience / 1000,
    onnotice: () => {},
    connection: { application_name: 'roster-operator' },
  })
}

/**
 * Says why nothing should be written to the PostgreSQL of a URL: it is a standby, it takes no writes, or two of its hosts
 * take writes. Undefined where all is well, and where no host answers: the command itself reports that.
 */
export async function whyNotToWrite(url: string): Promise<string | undefined> {
  const { first, hosts } = readServerUrls(url)!
  const found = (await lookAtHosts(url, (host) => openSchema(host, 'users'))).filter(
    ({ server }) => server !== undefined,
  )
  try {
    refuseSeveralPrimaries(found)
  } catch (error) {
    return (error as Error).message
  }
  const place = `PostgreSQL at ${hosts.join(', ')}`
  const primary = found.find(({ isStandby }) => !isStandby)
  const wanted = first.searchParams.get('target_session_attrs') ?? ''
  if (found.length > 0 && (!primary || /standby|read-only/.test(wanted)))
    return `${place} is a standby, which may lag behind and takes no writes`
  return primary?.isReadOnly ? `${place} takes no writes, because of default_transaction_read_only` : undefined
}
