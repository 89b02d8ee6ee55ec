import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { readServerUrls } from '../config/server-urls.ts'
import { connectionOptions } from './database.ts'
import { lookAtHosts, refuseSeveralPrimaries } from './look-at-hosts.ts'
import { NoSession, sharedSessions } from './no-session.ts'
import { refuseOldPostgres } from './refuse-old-postgres.ts'
import { markSetting } from './session-settings.ts'

/** Milliseconds after which a connection waits for one that another connection has. */
const patience = 2000

/** The error of a setting of PostgreSQL with which Roster cannot work, and which a session cannot set for itself. */
export class WrongSetting extends Error {
  constructor(name: string, value: string, wanted: string) {
    super(`PostgreSQL has ${name} = ${value}, and Roster works with ${name} = ${wanted} alone (docs/operations.md).`)
  }
}

/**
 * Throws NoSession where connections are no sessions of their own, and WrongSetting where they lack what no connection
 * can set for itself. A signal ends the proof. Throws OldServer where PostgreSQL is too old, and SeveralPrimaries where
 * two hosts of the URL take writes.
 */
export async function proveSession(url: string, service: string, signal?: AbortSignal): Promise<void> {
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

// A pool of transactions may give a connection its own session by chance: an idle one gives the session that was used
// last, and another one each in turn. So one connection holds a transaction meanwhile, and each asks twice in a row.
async function compareSessions(one: postgres.Sql, other: postgres.Sql): Promise<void> {
  const found = [await isOwn(one)]
  await other.unsafe('begin')
  found.push(await isOwn(other))
  const asked = isOwn(one)
  // A pool with a single session answers after the end of the transaction.
  await Promise.race([asked, sleep(patience, undefined, { ref: false })])
  await other.unsafe('rollback')
  found.push(await asked, await isOwn(other), await isOwn(other), await isOwn(one), await isOwn(one))
  if (found.includes(false)) throw sharedSessions()
}

// By the simple protocol: no pool can take apart what is one message.
async function isOwn(sql: postgres.Sql): Promise<boolean> {
  const answer = await sql.unsafe<[{ mark: string | null }]>(`select current_setting('${markSetting}', true) as mark`)
  return answer[0].mark === (answer.state as unknown as { mark: string }).mark
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
  if (/statement pooling/.test(error.message)) return sharedSessions()
  return thrown
}
