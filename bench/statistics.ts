import { setTimeout as sleep } from 'node:timers/promises'
import postgres, { type Sql } from 'postgres'
import type { System } from './system.ts'

/** Starts PostgreSQL again with the library that counts statements, and opens a connection of its administrator. */
export async function withStatistics({ servers, pids, urls }: System): Promise<Sql> {
  const first = postgres(servers.databaseUrl, { max: 1 })
  await first`alter system set shared_preload_libraries = 'pg_stat_statements'`
  await first.end()
  await servers.postgres!.restart()
  pids['postgres'] = [servers.postgres!.pid!]
  while (!(await fetch(`${urls[0]}/readyz`)).ok) await sleep(100)
  const sql = postgres(servers.databaseUrl, { max: 1, onnotice: () => {} })
  await sql`create extension pg_stat_statements`
  return sql
}
