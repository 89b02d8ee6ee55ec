import type { Sql } from 'postgres'

/**
 * The error of a connection that is no session of PostgreSQL, because of a pooler between them. A service that went on
 * would lose writes.
 */
export class NoSession extends Error {
  /** Counts as a connection error for calls, but a service does not start. */
  readonly code = 'NO_SESSION'
  constructor(what: string, remedy: string) {
    super(`Roster cannot work through the pooler that DATABASE_URL leads to, because ${what}: ${remedy}${elsewhere}.`)
  }
}

const elsewhere = ', or let DATABASE_URL lead to PostgreSQL itself (docs/reliability.md)'

/** The error of a connection that found another one's session in place of its own. */
export function sharedSessions(): NoSession {
  return new NoSession('it shares sessions among connections', 'set its pool_mode to session')
}

/** A pool gives this error to every statement from now on. Returns the first such error. */
export function refuseAll(pool: Sql, error: NoSession): NoSession {
  return patched(pool).refuse(error)
}

/** Why a pool refuses every statement, if it does. */
export function refusalOf(pool: Sql): NoSession | undefined {
  return patched(pool).refusal() ?? undefined
}

// See docs/decisions/7-patched-driver.md.
function patched(pool: Sql) {
  return pool as Sql & { refuse(error: NoSession): NoSession; refusal(): NoSession | null }
}

/** Stands for the mark of the session of that connection which will send the statement. */
export const ownMark = Symbol.for('postgres.session') as unknown as string
