import type { Waits } from '../health/waits.ts'
import type { Sql } from './database.ts'

/**
 * Looks whether commits wait for a synchronous standby of PostgreSQL, for five seconds or longer, and notes that. Reads
 * are answered meanwhile, and no statement fails. A role that is no superuser sees the waits of its own sessions alone.
 */
export async function lookForStandby(sql: Sql, waits: Waits): Promise<void> {
  const [found] = await sql<[{ waiting: boolean; wanted: string }]>`
    select current_setting('synchronous_standby_names') as wanted, exists (
      select from pg_stat_activity where usename = current_user and wait_event = 'SyncRep'
        and query_start < roster_now() - interval '5 seconds'
    ) as waiting
  `
  if (!found.waiting) waits.end('SynchronousStandby')
  else waits.begin('SynchronousStandby', new Error(`PostgreSQL waits for a synchronous standby: ${found.wanted}`))
}
