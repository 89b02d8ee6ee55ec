import { readServerUrls } from '../config/server-urls.ts'
import type { Sql } from './database.ts'

/** A host of PostgreSQL as it was found. */
export interface FoundHost {
  host: string
  /** Tells servers apart, also where several hosts lead to one, as poolers do. Undefined: it did not answer. */
  server?: string
  isStandby?: boolean
  /** Whether the server has `default_transaction_read_only`. */
  isReadOnly?: boolean
}

/** Two hosts of PostgreSQL take writes. Whatever is written to one of them may be lost with it. */
export class SeveralPrimaries extends Error {
  /** Counts as a connection error, so a service that starts retries until a single primary is left. */
  readonly code = 'SEVERAL_PRIMARIES'
  constructor(hosts: string[]) {
    super(`PostgreSQL at ${hosts.join(' and at ')} takes writes, and only one may: stop the former primary`)
  }
}

/** Asks each host of a URL. `open` opens one for a single connection. */
export function lookAtHosts(text: string, open: (url: string) => Sql): Promise<FoundHost[]> {
  const { first, hosts } = readServerUrls(text)!
  return Promise.all(
    hosts.map(async (host) => {
      const url = new URL(first)
      url.host = host
      url.searchParams.delete('target_session_attrs')
      const sql = open(url.href)
      try {
        const [found] = await sql.unsafe<[Omit<FoundHost, 'host'>]>(`
          select pg_is_in_recovery() as "isStandby", current_setting('transaction_read_only')::bool as "isReadOnly",
            extract(epoch from pg_postmaster_start_time())::text as server
        `)
        return { host, ...found }
      } catch {
        return { host }
      } finally {
        await sql.end({ timeout: 1 })
      }
    }),
  )
}

/** Throws SeveralPrimaries where two servers take writes. */
export function refuseSeveralPrimaries(found: FoundHost[]): void {
  const primaries = new Map<string, string>()
  for (const { host, server, isStandby } of found) if (server !== undefined && !isStandby) primaries.set(server, host)
  if (primaries.size > 1) throw new SeveralPrimaries([...primaries.values()])
}
