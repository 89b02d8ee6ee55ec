import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { RosterError } from '../errors.ts'
import type { Log } from '../log.ts'

export type Sql = postgres.Sql
export type Transaction = postgres.TransactionSql
/** A statement that runs in the transaction that it is given. */
export type Statement = (sql: Transaction) => PromiseLike<unknown>
/** A row that one statement inserts together with others of its kind. */
export interface Insert<Row extends object = any> {
  row: Row
  into(sql: Transaction, rows: Row[]): PromiseLike<unknown>
}
export type Write = Statement | Insert

const connectionErrors = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  '57P01',
  '57P02',
  '57P03',
  '53300',
])

// Every statement finds its rows by an index. A plan that was made while a table was small would read the whole of it, long
// after it has grown: plans are kept, and the statistics are a minute late.
const byIndex = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' }

const tryAgainAfter = 250
const sayEvery = 30_000

/** A pool of connections to a service's own schema. It connects when it is needed and again when a connection is lost. */
export function openDatabase(url: string, service: string, log: Log): Sql {
  return postgres(url, {
    max: 8,
    connect_timeout: 5,
    backoff: false,
    onnotice: (notice) => log.debug({ notice: notice.message }, 'PostgreSQL'),
    connection: { application_name: `roster-${service}`, statement_timeout: 30_000, ...byIndex },
  })
}

/** Whether PostgreSQL could not be reached, or went away during a statement. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error && 'code' in error)) return false
  // Class 08 is what PostgreSQL, or a pooler before it, says of connections; every error of a socket names its system call.
  return connectionErrors.has(String(error.code)) || /^08...$/.test(String(error.code)) || 'syscall' in error
}

/**
 * Runs what a service does before it answers, again and again until PostgreSQL can be reached. The work may have been done when its
 * connection is lost, so a second time must do nothing. Throws any other error at once.
 */
export async function untilReachable<T>(log: Log, work: () => Promise<T>): Promise<T> {
  for (let sayAt = 0; ; await sleep(tryAgainAfter)) {
    try {
      return await work()
    } catch (error) {
      const cause = error instanceof RosterError ? error.cause : error
      // A pool that was closed is reached by nobody any more.
      if (!isConnectionError(cause) || (cause as { code?: unknown }).code === 'CONNECTION_ENDED') throw error
      if (Date.now() < sayAt) continue
      log.warn({ err: error }, 'waiting for PostgreSQL')
      sayAt = Date.now() + sayEvery
    }
  }
}

/** Gives the result, or UNAVAILABLE STORE_UNAVAILABLE where PostgreSQL cannot be reached. */
export async function orUnavailable<T>(result: PromiseLike<T>): Promise<T> {
  try {
    return await result
  } catch (error) {
    throw isConnectionError(error) ? storeUnavailable(error) : error
  }
}

/** The error of a call that found no database. */
export function storeUnavailable(cause: unknown): RosterError {
  return new RosterError('UNAVAILABLE', 'STORE_UNAVAILABLE', 'The database cannot be reached.', {
    retryAfter: 1,
    cause,
  })
}
