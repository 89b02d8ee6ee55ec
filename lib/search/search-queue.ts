import { isCancelled, isConnectionError, type Sql, storeUnavailable, unprepared } from '../database/database.ts'
import { RosterError } from '../errors.ts'
import { createFairSemaphore } from '../fair-semaphore.ts'
import type postgres from 'postgres'

/** The organization that a search runs for, and its deadline as Unix time in milliseconds. */
export interface Asker {
  organizationId: string
  deadline?: number
}

// Half of the connections stay free for other work, and half of these searches for other organizations.
const size = { atOnce: 4, ofOneLane: 2, waiting: 256 }
const longest = 5000

const semaphores = new WeakMap<Sql, ReturnType<typeof createFairSemaphore>>()

/**
 * Runs the statement of a search, or queues it: few run at a time, and the queue is fair between organizations.
 * UNAVAILABLE STORE_OVERLOADED where too many wait, RESOURCE_EXHAUSTED SEARCH_TOO_LONG after five seconds,
 * DEADLINE_EXCEEDED, UNAVAILABLE STORE_UNAVAILABLE.
 */
export async function runQueued<Row extends object>(
  sql: Sql,
  { organizationId, deadline = Infinity }: Asker,
  statement: postgres.PendingQuery<Row[]>,
): Promise<Row[]> {
  try {
    return await semaphoreOf(sql)({ lane: organizationId, deadline }, () => run(sql, statement))
  } catch (error) {
    if (isCancelled(error)) throw searchTooLong(error)
    throw isConnectionError(error) ? storeUnavailable(error) : error
  }
}

function semaphoreOf(sql: Sql): ReturnType<typeof createFairSemaphore> {
  let semaphore = semaphores.get(sql)
  if (!semaphore) semaphores.set(sql, (semaphore = createFairSemaphore(size, overloaded)))
  return semaphore
}

async function run<Row extends object>(sql: Sql, statement: postgres.PendingQuery<Row[]>): Promise<Row[]> {
  const rows = await sql.begin(async (transaction) => {
    // Both go out together.
    const limit = transaction`select set_config('statement_timeout', ${String(longest)}, true)`
    const [, found] = await Promise.all([limit, unprepared(transaction<Row[]>`${statement}`)])
    return found
  })
  return rows as Row[]
}

function overloaded(): RosterError {
  return new RosterError('UNAVAILABLE', 'STORE_OVERLOADED', 'Too many searches are already waiting.', { retryAfter: 1 })
}

function searchTooLong(cause: unknown): RosterError {
  const text = 'The search took more than five seconds. Give it narrower filters.'
  return new RosterError('RESOURCE_EXHAUSTED', 'SEARCH_TOO_LONG', text, { retryAfter: 10, cause })
}
