import { readdirSync, readFileSync } from 'node:fs'
import type { Log } from '../log.ts'
import { type Sql, type Transaction, untilReachable } from './database.ts'

// Any number will do, as long as every replica of a service takes the same; the schema makes it the service's own.
const lock = 7_265_001

/**
 * Brings a service's schema up to date: the event store's own tables, then the service's `migrations/*.sql` in the order
 * of their names, each once, all in one transaction. Any number of replicas may start at once. Waits for PostgreSQL.
 */
export async function migrate(sql: Sql, migrations: URL, log: Log): Promise<void> {
  const files = [new URL('./schema.sql', import.meta.url), ...sqlFiles(migrations)]
  await untilReachable(log, () => sql.begin((transaction) => apply(transaction, files)))
}

async function apply(transaction: Transaction, files: URL[]): Promise<void> {
  await transaction`select pg_advisory_xact_lock(hashtextextended(current_schema(), ${lock}))`
  await transaction`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`
  const applied = new Set((await transaction<{ name: string }[]>`select name from migrations`).map((row) => row.name))
  for (const file of files) {
    const name = file.pathname.slice(file.pathname.lastIndexOf('/') + 1)
    if (applied.has(name)) continue
    await transaction.unsafe(readFileSync(file, 'utf8'))
    await transaction`insert into migrations (name) values (${name})`
  }
}

function sqlFiles(folder: URL): URL[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => new URL(name, folder))
}
