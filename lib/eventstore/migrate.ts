import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { formerFunctions } from '../health/release.ts'
import { createWaits } from '../health/waits.ts'
import type { Log } from '../log.ts'
import { type Sql, type Transaction, untilReachable } from './database.ts'
import { nameHolders } from './name-holders.ts'
import { checkReleases } from './releases.ts'
import { makeMissingIndexes } from './schema-parts.ts'
import type { Vocabulary } from './vocabulary.ts'

// Any number works, if every replica of a service uses the same. The schema's name makes the lock the service's own.
const lock = 7_265_001

const functions = 'functions.sql'
const tables = [
  'schema.sql',
  'schema-2.sql',
  'schema-3.sql',
  'schema-4.sql',
  'schema-5.sql',
  'schema-6.sql',
  'schema-7.sql',
  'schema-8.sql',
  'schema-9.sql',
  'schema-10.sql',
  'schema-11.sql',
  'schema-12.sql',
  'schema-13.sql',
  'schema-14.sql',
  'schema-15.sql',
]

/**
 * Migrates a service's schema: first the event store's tables, then the service's `migrations/*.sql` by name. Each file
 * runs once, so a change needs a new file. Last come the functions of the event store and of the service, in a file
 * `functions.sql` each, once for each text of theirs. So an older replica that starts again does not restore its own
 * text.
 * Throws where a release runs or ran here that this version cannot work beside.
 * Then everything that the migrations make must be there. A missing index is made again.
 * All runs in one transaction, and any number of replicas may start at once. Waits for PostgreSQL, and for locks, whose
 * holders the log names.
 * The role of the operator's command, where there is one, may then read what `operator.sql` and `readable` name.
 */
export async function migrate(
  sql: Sql,
  migrations: URL,
  log: Log,
  readable: Readable = {},
  waits = createWaits(log),
): Promise<void> {
  const steps = [
    ...tables.map((name) => read(name, import.meta.url)),
    ...migrationsIn(migrations).map((name) => read(name, migrations)),
    withHash(read(functions, import.meta.url)),
    ...(existsSync(new URL(functions, migrations)) ? [withHash(read(functions, migrations))] : []),
  ]
  await untilReachable(waits, () =>
    sql.begin(async (transaction) => {
      const [operator] = await transaction<{ role: string }[]>`
        select rolname as role from pg_roles
        where rolname = regexp_replace(current_schema(), '^roster_', 'roster_operator_') and rolname <> current_schema()
      `
      const forOperator = operator && withHash(letRead(read('operator.sql', import.meta.url), readable, operator.role))
      await findOperatorClasses(transaction)
      const [own] = await transaction<{ pid: number }[]>`select pg_backend_pid() as pid`
      const say = (holders: string) =>
        waits.begin('PostgreSQL', new Error(`the migrations wait for a lock that ${holders} holds`))
      await nameHolders({ sql, pid: own!.pid, say }, async () => {
        await apply(transaction, forOperator ? [...steps, forOperator] : steps)
        await makeMissingIndexes(transaction, migrations)
      })
    }),
  )
}

// Migrations name operator classes of these extensions, which may lie in any schema.
async function findOperatorClasses(transaction: Transaction): Promise<void> {
  await transaction`
    select set_config('search_path', concat_ws(', ', quote_ident(current_schema()), string_agg(quote_ident(nspname), ', ')), true)
    from pg_extension join pg_namespace n on n.oid = extnamespace where extname in ('pg_trgm', 'btree_gin')
  `
}

/** Tables of a service that the operator's command may read. */
export type Readable = Pick<Vocabulary, 'views' | 'watched'>

interface Step {
  name: string
  text: string
}

function migrationsIn(folder: URL): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql') && name !== functions)
    .sort()
}

function read(name: string, folder: URL | string): Step {
  return { name, text: readFileSync(new URL(name, folder), 'utf8') }
}

function letRead({ name, text }: Step, { views = [], watched = [] }: Readable, role: string): Step {
  const tables = [...views, ...watched].map(({ table, ...rest }) => {
    const columns = 'columns' in rest && rest.columns ? ` (${rest.columns.join(', ')})` : ''
    return `grant select${columns} on ${table} to roster_operator;\n`
  })
  return { name, text: (text + tables.join('')).replaceAll('roster_operator', role) }
}

function withHash({ name, text }: Step): Step {
  return { name: `${name} ${createHash('sha256').update(text).digest('hex')}`, text }
}

async function apply(transaction: Transaction, steps: Step[]): Promise<void> {
  // A migration of a large table takes long, and so does the wait of the other replicas.
  await transaction`set local statement_timeout = 0`
  await transaction`select pg_advisory_xact_lock(hashtextextended(current_schema(), ${lock}))`
  await transaction`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`
  const applied = new Set((await transaction<{ name: string }[]>`select name from migrations`).map(({ name }) => name))
  const note = await checkReleases(transaction, applied)
  for (const { name, text } of steps) {
    if (applied.has(name)) continue
    await transaction.unsafe(text)
    await transaction`insert into migrations (name) values (${name})`
  }
  // Back in the former release, its replicas must not bring their functions back: this release needs its own again.
  for (const hash of formerFunctions)
    await transaction`insert into migrations (name) values (${`${functions} ${hash}`}) on conflict do nothing`
  if (note !== undefined) await transaction`insert into migrations (name) values (${note})`
}
