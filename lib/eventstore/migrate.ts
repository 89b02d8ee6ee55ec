import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { Log } from '../log.ts'
import { type Sql, type Transaction, untilReachable } from './database.ts'

// Any number will do, as long as every replica of a service takes the same; the schema makes it the service's own.
const lock = 7_265_001

const tables = ['schema.sql', 'schema-2.sql', 'schema-3.sql', 'schema-4.sql', 'schema-5.sql']

/**
 * Brings a service's schema up to date: the event store's tables and the service's `migrations/*.sql`, in the order of their names,
 * each once, so that what is to change is a new file; then the event store's functions, once for each text that they had, so that
 * an older replica which starts again does not bring its own back. All in one transaction; any number of replicas may start at
 * once. Waits for PostgreSQL.
 */
export async function migrate(sql: Sql, migrations: URL, log: Log): Promise<void> {
  const steps = [
    ...tables.map((name) => read(name, import.meta.url)),
    ...sqlFiles(migrations).map((name) => read(name, migrations)),
    withHash(read('functions.sql', import.meta.url)),
  ]
  await untilReachable(log, () => sql.begin((transaction) => apply(transaction, steps)))
}

interface Step {
  name: string
  text: string
}

function sqlFiles(folder: URL): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
}

function read(name: string, folder: URL | string): Step {
  return { name, text: readFileSync(new URL(name, folder), 'utf8') }
}

function withHash({ name, text }: Step): Step {
  return { name: `${name} ${createHash('sha256').update(text).digest('hex')}`, text }
}

async function apply(transaction: Transaction, steps: Step[]): Promise<void> {
  // A large table takes its time, and the replicas that wait for it do, too.
  await transaction`set local statement_timeout = 0`
  await transaction`select pg_advisory_xact_lock(hashtextextended(current_schema(), ${lock}))`
  await transaction`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`
  const applied = new Set((await transaction<{ name: string }[]>`select name from migrations`).map(({ name }) => name))
  for (const { name, text } of steps) {
    if (applied.has(name)) continue
    await transaction.unsafe(text)
    await transaction`insert into migrations (name) values (${name})`
  }
}
