import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { readServerUrls } from '../config/server-urls.ts'
import { connectionOptions } from './database.ts'
import { lookAtHosts, refuseSeveralPrimaries } from './look-at-hosts.ts'
import { refuseOldPostgres } from './refuse-old-postgres.ts'

/** Milliseconds after which a connection waits for one that another connection has. */
const patience = 2000

/**
 * The error of a connection that is no session of PostgreSQL, because of a pooler between them. A service that went on
 * would lose writes.
 */
export class NoSession extends Error {
  constructor(what: string, remedy: string) {
    super(`Roster cannot work through the pooler that DATABASE_URL leads to, because ${what}: ${remedy}${elsewhere}.`)
  }
}

/** The error of a setting of PostgreSQL with which Roster cannot work, and which a session cannot set for itself. */
export class WrongSetting extends Error {
  constructor(name: string, value: string, wanted: string) {
    super(`PostgreSQL has ${name} = ${value}, and Roster works with ${name} = ${wanted} alone (docs/operations.md).`)
  }
}

const elsewhere = ', or let DATABASE_URL lead to PostgreSQL itself (docs/reliability.md)'

/**
 * Throws NoSession where connections are no sessions of their own, and WrongSetting where they lack what no connection
 * can set for itself. An idle pool of transactions
 * gives one connection the same session again and again. So the proof takes two connections, and one holds a
 * transaction meanwhile. A signal ends the proof. Throws OldServer where PostgreSQL is too old, and SeveralPrimaries
 * where two hosts of the URL take writes.
 */
export async function proveSession(url: string, service: string, signal?: AbortSignal): Promise<void> {
  try {
    await prove(url, service, signal)
  } catch (error) {
    if (!(error instanceof NoSession)) throw error
    // A connection that broke in between is another session, too.
    await prove(url, service, signal)
  }
}

async function prove(url: string, service: string, signal: AbortSignal | undefined): Promise<void> {
  const [one, other] = [open(url, service), open(url, service)]
  const close = () => void Promise.all([one, other].map((sql) => sql.end({ timeout: 0 })))
  signal?.addEventListener('abort', close, { once: true })
  try {
    if (readServerUrls(url)!.hosts.length > 1)
      refuseSeveralPrimaries(await lookAtHosts(url, (host) => open(host, service)))
    await refuseOldPostgres(one)
    await compareSessions(one, other)
    await refuseSettings(one)
  } catch (error) {
    throw named(error)
  } finally {
    signal?.removeEventListener('abort', close)
    await Promise.all([one, other].map((sql) => sql.end({ timeout: 1 })))
  }
}

function open(url: string, service: string): postgres.Sql {
  const { url: first, ...options } = connectionOptions(url, service)
  return postgres(first, { ...options, max: 1, fetch_types: false, onnotice: () => {} })
}

async function compareSessions(one: postgres.Sql, other: postgres.Sql): Promise<void> {
  const before = await processOf(one)
  await other.unsafe('begin')
  const held = await processOf(other)
  const asked = processOf(one)
  const after = await Promise.race([asked, sleep(patience, undefined, { ref: false })])
  // Where PostgreSQL itself hangs, it does not answer this either.
  await other.unsafe('rollback')
  const later = await processOf(other)
  if (before === after && held === later && before !== held) return
  await asked.catch(() => {})
  throw new NoSession('it shares sessions among connections', 'set its pool_mode to session')
}

// By the simple protocol: no pool can take apart what is one message.
async function processOf(sql: postgres.Sql): Promise<number> {
  const [row] = await sql.unsafe<[{ pid: number }]>('select pg_backend_pid() as pid')
  return row.pid
}

/** What no session can set for itself, and the values with which Roster works. */
const needed: Record<string, string[]> = {
  server_encoding: ['UTF8'],
  session_replication_role: ['origin', 'local'],
  'plpgsql.variable_conflict': ['error'],
}

async function refuseSettings(sql: postgres.Sql): Promise<void> {
  for (const [name, values] of Object.entries(needed)) {
    // Null: nothing has set it.
    const [{ value }] = await sql.unsafe<[{ value: string | null }]>(`select current_setting('${name}', true) as value`)
    if (value !== null && !values.includes(value)) throw new WrongSetting(name, value, values[0]!)
  }
}

// A pooler reports all of its errors by the same code, and may close the connection then.
function named(thrown: unknown): unknown {
  const error = (thrown as Error).cause ?? thrown
  if (!(error instanceof postgres.PostgresError) || error.code !== '08P01') return thrown
  const [, setting] = /unsupported startup parameter: (\w+)/.exec(error.message) ?? []
  if (setting !== undefined)
    return new NoSession(
      `it refuses the setting ${setting} of a connection`,
      `take it out of DATABASE_URL, or add it to the pooler's ignore_startup_parameters`,
    )
  if (/statement pooling/.test(error.message))
    return new NoSession('it shares sessions among connections', 'set its pool_mode to session')
  return thrown
}
