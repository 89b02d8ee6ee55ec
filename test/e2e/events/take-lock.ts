import postgres from 'postgres'
import { inject } from 'vitest'

/**
 * Waits until no other test file has the lock, and returns what releases it. A transaction that stays open holds up
 * the events of all. So a test that keeps one open must not run beside tests that measure how soon an event comes.
 */
export async function takeLock(): Promise<() => Promise<void>> {
  const { house } = inject('roster')
  if (!house) return async () => {}
  const sql = postgres(house.databaseUrl, { max: 1, onnotice: () => {} })
  await sql`select pg_advisory_lock(1)`
  return () => sql.end()
}
