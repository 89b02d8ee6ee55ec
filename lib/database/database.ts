import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { RosterError } from '../errors.ts'
import { roster } from '../health/release.ts'
import type { Waits } from '../health/waits.ts'
import type { Log } from '../log.ts'
import { driverOptions } from './database-url.ts'
import { ownSchema, sessionSettings } from './session-settings.ts'
import { watchDatabase, watchPool } from './watch-database.ts'

export type Sql = postgres.Sql
export type Transaction = postgres.TransactionSql
/** A part of a statement. */
export type Fragment = postgres.Fragment
/** A statement that runs in the given transaction. */
export type Statement = (sql: Transaction) => PromiseLike<unknown>
/** A row that one statement inserts together with other rows of its kind. */
// Inserts of many kinds stand in one list. Each makes its rows itself.
// oxlint-disable-next-line typescript/no-explicit-any
export interface Insert<Row extends object = any> {
  row: Row
  into(sql: Transaction, rows: Row[]): PromiseLike<unknown>
}
/** A function of the service's schema, which takes these rows as a list in JSON. */
export interface FunctionCall {
  name: string
  rows: object[]
}
/**
 * A row that functions of the schema write, together with other rows of its kind. A transaction that writes nothing
 * else beside its events is a single statement. Kinds must not depend on each other: among such rows, only the order
 * within a kind is kept.
 */
// oxlint-disable-next-line typescript/no-explicit-any
export interface ByFunction<Row extends object = any> {
  row: Row
  calls(rows: Row[]): FunctionCall[]
  /** Its place among the writes of others does not matter. So one statement writes all such rows of a batch. */
  anywhere?: true
}
export type Write = Statement | Insert | ByFunction

/** Calls a function of the schema within a transaction. */
export function callFunction(sql: Transaction, { name, rows }: FunctionCall): PromiseLike<unknown> {
  return sql`select ${sql(name)}(${JSON.stringify(rows)}::text::json)`
}

const queryCancelled = '57014'

const connectionErrors = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'COMMIT_UNKNOWN',
  'CONNECT_TIMEOUT',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'FOREIGN_ANSWER',
  'NO_SESSION',
  'SEVERAL_PRIMARIES',
  'WRONG_SESSION_ATTRS',
  '57P01',
  '57P02',
  '57P03',
  '53100',
  '53200',
  '53300',
  queryCancelled,
])

const tryAgainAfter = 250

/**
 * A pool of connections to the service's own schema. It connects on first use, and again after a lost connection.
 * Metrics name the pool.
 */
export function openDatabase(url: string, service: string, log: Log, pool: 'main' | 'operations' = 'main'): Sql {
  const { url: first, ...options } = connectionOptions(url, service)
  const sql = postgres(first, {
    ...options,
    max: 8,
    onnotice: (notice) => log.debug({ notice: notice.message }, 'PostgreSQL'),
  })
  watchPool(sql, pool)
  if (pool === 'main') watchDatabase(url, service)
  return sql
}

/** How a service connects. */
export function connectionOptions(url: string, service: string) {
  return {
    ...driverOptions(url, { search_path: ownSchema, ...sessionSettings }),
    // A service writes. So it takes no standby, whatever the URL says.
    target_session_attrs: 'read-write' as const,
    connect_timeout: 5,
    backoff: false,
    connection: { application_name: applicationName(service) },
  }
}

// Shows other replicas, and a person at PostgreSQL, which version is connected.
function applicationName(service: string): string {
  return `roster-${service} ${roster.version}`
}

/** Whether PostgreSQL could not be reached, the connection broke during a statement, or the statement took too long. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error && 'code' in error)) return false
  // PostgreSQL, or a pooler in front of it, reports connection errors as class 08. Every socket error names its system
  // call.
  return connectionErrors.has(String(error.code)) || /^08...$/.test(String(error.code)) || 'syscall' in error
}

/**
 * The error of a statement that got the answer of another one. Whether it ran is unknown, as after a lost connection.
 * Closes the connection, because its next answers would be those of others, too.
 */
export function foreignAnswer({ state }: { state: object }): Error {
  // The patched driver closes it: see docs/decisions/7-patched-driver.md.
  ;(state as { close(): void }).close()
  return Object.assign(new Error('a statement got the answer of another one'), { code: 'FOREIGN_ANSWER' })
}

const deadlockDetected = '40P01'

/**
 * Repeats a service's work at its start until PostgreSQL can be reached, and where it was chosen to end a deadlock with
 * the writes of other replicas. The connection may break after the work was done, so doing it twice must do no harm.
 * Throws any other error at once.
 */
export async function untilReachable<T>(waits: Waits, work: () => Promise<T>): Promise<T> {
  for (; ; await sleep(tryAgainAfter)) {
    try {
      const result = await work()
      waits.end('SinglePrimary')
      waits.end('PostgreSQL')
      return result
    } catch (error) {
      const cause = error instanceof RosterError ? error.cause : error
      const { code } = Object(cause) as { code?: unknown }
      // A pool that was closed, or has no sessions, serves no call, so stop trying.
      const isOver = code === 'CONNECTION_ENDED' || code === 'NO_SESSION'
      if (code !== deadlockDetected && (!isConnectionError(cause) || isOver)) throw error
      if (code === 'SEVERAL_PRIMARIES') waits.begin('SinglePrimary', cause)
      else {
        waits.end('SinglePrimary')
        waits.begin('PostgreSQL', cause)
      }
    }
  }
}

/**
 * A statement that is planned for its own values, and whose plan is not kept. Filters that callers put together have
 * countless forms, and a connection would keep each of them.
 */
export function unprepared<Rows extends readonly (object | undefined)[]>(
  statement: postgres.PendingQuery<Rows>,
): postgres.PendingQuery<Rows> {
  // The driver reads this option, as `simple()` does, but its types do not say so.
  Object.assign((statement as unknown as { options: object }).options, { prepare: false })
  return statement
}

/** PostgreSQL's time. Hosts' clocks decide nothing: see docs/operations.md. */
export async function readNow(sql: Sql | Transaction): Promise<Date> {
  const [{ now }] = await sql<[{ now: Date }]>`select roster_now() as now`
  return now
}

/** Returns the result, or UNAVAILABLE STORE_UNAVAILABLE where PostgreSQL does not give it. */
export async function orUnavailable<T>(result: PromiseLike<T>): Promise<T> {
  try {
    return await result
  } catch (error) {
    throw isConnectionError(error) ? storeUnavailable(error) : error
  }
}

/** The error of a call that cannot reach the database, or for which the database takes too long. */
export function storeUnavailable(cause: unknown): RosterError {
  const text = isCancelled(cause) ? 'The database takes too long.' : 'The database cannot be reached.'
  return new RosterError('UNAVAILABLE', 'STORE_UNAVAILABLE', text, { retryAfter: 1, cause })
}

/** Whether PostgreSQL gave a statement up, because it took too long. */
export function isCancelled(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === queryCancelled
}
