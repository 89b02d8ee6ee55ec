import { isCancelled, isConnectionError, type Sql, storeUnavailable, unprepared } from '../eventstore/database.ts'
import { RosterError } from '../errors.ts'
import { createFairGate } from '../fair-semaphore.ts'
import type postgres from 'postgres'

/** The organization that a search runs for, and its deadline as Unix time in milliseconds. */
export interface Asker {
  organizationId: string
  deadline?: number
}

// Half of the connections stay free for other work, and half of these searches for other organizations.
const size = { atOnce: 4, ofOneLane: 2, waiting: 256 }
const longest = 5000

const gates = new WeakMap<Sql, ReturnType<typeof createFairGate>>()

/**
 * Runs the statement of a search. Few run at a time, and organizations take turns. UNAVAILABLE STORE_OVERLOADED where
 * too many wait, RESOURCE_EXHAUSTED SEARCH_TOO_LONG after five seconds, DEADLINE_EXCEEDED, UNAVAILABLE
 * STORE_UNAVAILABLE.
 */
export async function inTurn<Row extends object>(
  sql: Sql,
  { organizationId, deadline = Infinity }: Asker,
  statement: postgres.PendingQuery<Row[]>,
): Promise<Row[]> {
  try {
    return await gateOf(sql)({ lane: organizationId, deadline }, () => run(sql, statement))
  } catch (error) {
    if (isCancelled(error)) throw searchTooLong(error)
    throw isConnectionError(error) ? storeUnavailable(error) : error
  }
}

function gateOf(sql: Sql): ReturnType<typeof createFairGate> {
  let gate = gates.get(sql)
  if (!gate) gates.set(sql, (gate = createFairGate(size, overloaded)))
  return gate
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
