import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { formerFunctions } from '../health/release.ts'
import { createWaits } from '../health/waits.ts'
import type { Log } from '../log.ts'
import { buildIndexes, findOperatorClasses } from './build-indexes.ts'
import { type Sql, type Transaction, untilReachable } from '../database/database.ts'
import { nameHolders } from './name-holders.ts'
import { checkReleases } from './releases.ts'
import { missingIndexes } from './schema-parts.ts'
import { takeOver } from './take-over.ts'
import type { Vocabulary } from '../eventstore/vocabulary.ts'

// Any number works, if every replica of a service uses the same. The schema's name makes the lock the service's own.
const lock = 7_265_001

/** Seconds for which a migration may wait for a lock. Whoever comes after it to the same table waits behind it. */
const lockTimeout = 2
/** Milliseconds in which those who waited behind it go on, and between two looks whether another replica is done. */
const [pause, lookEvery] = [2000, 100]

const functions = 'functions.sql'

/**
 * Migrates a service's schema: first by the event store's `migrations/*.sql` by name, then by the service's. Each file
 * runs once, so a change needs a new file. Last come the functions of the event store and of the service, in a file
 * `functions.sql` each, once for each text of theirs. So an older replica that starts again does not restore its own
 * text.
 * All runs in one transaction. A file `*.concurrently.sql` divides it in two: it makes indexes while others write.
 * Throws where a release runs or ran here that this version cannot work beside.
 * Then everything that the migrations make must be there. A missing index is made again.
 * Any number of replicas may start at once. Waits for PostgreSQL, and for locks, whose holders the log names. A lock
 * that it does not get within two seconds is asked for again, so that no statement waits longer behind it. The role of
 * the operator's command, where there is one, may then read what `operator.sql` and `readable` name.
 */
export async function migrate(
  sql: Sql,
  migrations: URL,
  log: Log,
  readable: Readable = {},
  waits = createWaits(log),
): Promise<void> {
  const own = new URL('./migrations/', import.meta.url)
  const files = [
    ...migrationsIn(own).map((name) => ({ ...read(name, own), name: `event-store/${name}` })),
    ...migrationsIn(migrations).map((name) => read(name, migrations)),
  ]
  const repeated = [
    withHash(read(functions, import.meta.url)),
    ...(existsSync(new URL(functions, migrations)) ? [withHash(read(functions, migrations))] : []),
  ]
  await untilReachable(waits, async () => {
    const parts = inParts([...files, ...repeated, ...(await letOperatorRead(sql, readable))])
    const [{ key }] = await sql<[{ key: string }]>`select hashtextextended(current_schema(), ${lock})::text as key`
    // An index is made over a connection beside the transaction that has the lock.
    let pids: number[] = []
    const say = (holders: string) =>
      waits.begin('PostgreSQL', new Error(`the migrations wait for a lock that ${holders} holds`))
    const underLock = (work: (transaction: Transaction) => Promise<void>) =>
      untilUnlocked(() =>
        sql.begin(async (transaction) => {
          pids = [await processOf(transaction)]
          const isMine = await takeLock(transaction, key)
          if (isMine) await work(transaction)
          return isMine
        }),
      )
    const build = async (text: string) => {
      const connection = await sql.reserve()
      try {
        pids.push(await processOf(connection))
        await buildIndexes(connection, text)
      } finally {
        connection.release()
      }
    }
    await nameHolders({ sql, pids: () => pids, lock: key, say }, async () => {
      for (const part of parts)
        await underLock((transaction) =>
          Array.isArray(part) ? apply(transaction, part) : applyConcurrently(transaction, part, build),
        )
      await underLock(async (transaction) => {
        const missing = await missingIndexes(transaction, migrations)
        await dropSnapshot(transaction)
        if (missing.length > 0) await build(missing.join(';\n'))
      })
    })
  })
}

/** Tables of a service that the operator's command may read. */
export type Readable = Pick<Vocabulary, 'projections' | 'watched'>

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

function withHash({ name, text }: Step): Step {
  return { name: `${name} ${createHash('sha256').update(text).digest('hex')}`, text }
}

async function letOperatorRead(sql: Sql, { projections = [], watched = [] }: Readable): Promise<Step[]> {
  const [operator] = await sql<{ role: string }[]>`
    select rolname as role from pg_roles
    where rolname = regexp_replace(current_schema(), '^roster_', 'roster_operator_') and rolname <> current_schema()
  `
  if (!operator) return []
  const tables = [...projections, ...watched].map(({ table, ...rest }) => {
    const columns = 'columns' in rest && rest.columns ? ` (${rest.columns.join(', ')})` : ''
    return `grant select${columns} on ${table} to roster_operator;\n`
  })
  const { name, text } = read('operator.sql', import.meta.url)
  return [withHash({ name, text: (text + tables.join('')).replaceAll('roster_operator', operator.role) })]
}

/** The steps that share a transaction, and those that go without one, in their order. */
function inParts(steps: Step[]): (Step[] | Step)[] {
  const parts: (Step[] | Step)[] = []
  for (const step of steps) {
    const last = parts.at(-1)
    if (step.name.endsWith('.concurrently.sql')) parts.push(step)
    else if (Array.isArray(last)) last.push(step)
    else parts.push([step])
  }
  return parts
}

const lockNotAvailable = '55P03'

// Whoever makes an index waits for every transaction that has a snapshot, to its end. So no transaction of another
// replica stays open while it waits for its turn.
async function untilUnlocked(work: () => Promise<boolean>): Promise<void> {
  for (;;)
    try {
      if (await work()) return
      await sleep(lookEvery)
    } catch (error) {
      if ((error as { code?: unknown }).code !== lockNotAvailable) throw error
      await sleep(pause)
    }
}

async function processOf(sql: Pick<Sql, 'unsafe'>): Promise<number> {
  const [row] = await sql.unsafe<[{ pid: number }]>('select pg_backend_pid() as pid')
  return row.pid
}

// One replica after the other.
async function takeLock(transaction: Transaction, key: string): Promise<boolean> {
  // A migration of a large table takes long.
  await transaction`set local statement_timeout = 0`
  await transaction`set local idle_in_transaction_session_timeout = 0`
  await transaction.unsafe(`set local lock_timeout = '${lockTimeout}s'`)
  const [row] = await transaction<[{ mine: boolean }]>`select pg_try_advisory_xact_lock(${key}::bigint) as mine`
  return row.mine
}

// The last statement keeps its snapshot until the next one begins, and the simple protocol drops it after its own.
async function dropSnapshot(transaction: Transaction): Promise<void> {
  await transaction`select`.simple()
}

async function apply(transaction: Transaction, steps: Step[]): Promise<void> {
  await findOperatorClasses(transaction)
  await transaction`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`
  const applied = new Set((await transaction<{ name: string }[]>`select name from migrations`).map(({ name }) => name))
  await takeOver(transaction, applied)
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

// The transaction holds the lock of this replica, and nothing that the making of an index would wait for.
async function applyConcurrently(
  transaction: Transaction,
  { name, text }: Step,
  build: (text: string) => Promise<void>,
): Promise<void> {
  const [applied] = await transaction`select from migrations where name = ${name}`
  if (applied) return
  await dropSnapshot(transaction)
  await build(text)
  await transaction`insert into migrations (name) values (${name})`
}
