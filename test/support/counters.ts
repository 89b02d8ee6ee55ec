import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createDatabase } from './database.ts'
import { RosterError } from '#lib/errors'
import { encryptionKey } from '#lib/encryption/keys'
import { createLog } from '#lib/log'
import { anonymous } from '#lib/rpc/caller'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision, UniqueKey } from '#lib/eventstore/command'
import { openDatabase, type Sql, type Transaction, type Write } from '#lib/database/database'
import { migrate } from '#lib/schema/migrate'
import { keepAnswers } from '#lib/eventstore/idempotent-answers'
import type { Answers } from '#lib/rpc/idempotency'
import { createStore, type Store } from '#lib/eventstore/store'
import type { Vocabulary } from '#lib/eventstore/vocabulary'

/** The aggregate of the event store's tests: a counter with a unique name. */
export interface Counter {
  name: string
  count: number
}

export type CounterEvent =
  | { type: 'added'; payload: { name: string } }
  | { type: 'counted'; payload: { by: string } }
  | { type: 'renamed'; payload: { name: string } }

export function evolveCounter(counter: Counter | undefined, event: CounterEvent): Counter {
  if (event.type === 'added') return { name: event.payload.name, count: 0 }
  if (event.type === 'renamed') return { ...counter!, name: event.payload.name }
  return { ...counter!, count: counter!.count + 1 }
}

export const keys = encryptionKey.read(randomBytes(32).toString('base64'))

export const silent = createLog('test', 'silent')

/** A replica of a service that keeps counters. Its projection is the table `counts`. */
export interface Replica {
  sql: Sql
  store: Store
  answers: Answers
  stop(): Promise<void>
}

/** Opens a replica. `wrap` may put something between the store and the database. */
export async function openReplica(url: string, wrap: (sql: Sql) => Sql = (sql) => sql): Promise<Replica> {
  const sql = openDatabase(url, 'test', silent)
  await migrate(sql, await viewMigration(), silent)
  const vocabulary: Vocabulary = { evolve: { counter: evolveCounter, other: evolveCounter }, project }
  const answers = keepAnswers(wrap(sql), keys, silent)
  return {
    sql,
    store: createStore(wrap(sql), vocabulary, silent, () => {}, answers),
    answers,
    async stop() {
      answers.stop()
      await sql.end({ timeout: 5 })
    },
  }
}

/** Opens two replicas over a database of their own. */
export async function openReplicas(...wraps: ((sql: Sql) => Sql)[]) {
  const database = await createDatabase()
  const replicas = await Promise.all([0, 1].map((index) => openReplica(database.urls.users, wraps[index])))
  return {
    replicas,
    async stop() {
      await Promise.all(replicas.map((replica) => replica.stop()))
      await database.drop()
    },
  }
}

function project({ after: changed }: { after: Aggregate }): Write[] {
  const after = changed as Aggregate<Counter>
  const { id, state } = after
  return [
    (sql) => sql`
      insert into counts (id, name, count) values (${id}, ${state!.name}, ${state!.count})
      on conflict (id) do update set name = excluded.name, count = excluded.count
    `,
  ]
}

let folder: Promise<URL> | undefined

function viewMigration(): Promise<URL> {
  return (folder ??= writeMigrations({
    '0001-counts.sql':
      'create table counts (id text primary key, name text not null, count int not null check (count < 1000))',
  }))
}

/** A folder of migrations that is deleted when the process ends. */
export async function writeMigrations(files: Record<string, string>): Promise<URL> {
  const path = await mkdtemp(join(tmpdir(), 'roster-migrations-'))
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(path, name), text)))
  process.once('exit', () => void rm(path, { recursive: true, force: true }))
  return pathToFileURL(`${path}/`)
}

export const call = (deadline = Date.now() + 30_000) => ({ caller: anonymous, requestId: 'test', deadline })

const nameOf = (name: string): UniqueKey & { taken: RosterError } => ({
  kind: 'name',
  scope: '',
  key: name,
  taken: new RosterError('ALREADY_EXISTS', 'NAME_TAKEN', 'The name is taken.'),
})

/** Adds a counter. ALREADY_EXISTS ID_TAKEN or NAME_TAKEN. */
export function add(id: string, name: string) {
  return {
    aggregate: { type: 'counter', id },
    call: call(),
    decide({ state }: Aggregate<Counter>): Decision<CounterEvent> {
      if (state) throw new RosterError('ALREADY_EXISTS', 'ID_TAKEN', 'The id is taken.')
      return {
        organizationId: 'house',
        claims: [nameOf(name)],
        events: [{ type: 'added', payload: { name } }],
        answer: undefined,
      }
    },
  }
}

/** Increases a counter by one. NOT_FOUND COUNTER_NOT_FOUND. */
export function count(id: string, by = '') {
  return {
    aggregate: { type: 'counter', id },
    call: call(),
    decide({ state }: Aggregate<Counter>): Decision<CounterEvent, number> {
      if (!state) throw notFound()
      return { events: [{ type: 'counted', payload: { by } }], answer: state.count + 1 }
    },
  }
}

/** Renames a counter; the same name changes nothing. NOT_FOUND COUNTER_NOT_FOUND; ALREADY_EXISTS NAME_TAKEN. */
export function rename(id: string, name: string) {
  return {
    aggregate: { type: 'counter', id },
    call: call(),
    decide({ state }: Aggregate<Counter>): Decision<CounterEvent> {
      if (!state) throw notFound()
      if (state.name === name) return { events: [], answer: undefined }
      return {
        claims: [nameOf(name)],
        releases: [nameOf(state.name)],
        events: [{ type: 'renamed', payload: { name } }],
        answer: undefined,
      }
    },
  }
}

function notFound() {
  return new RosterError('NOT_FOUND', 'COUNTER_NOT_FOUND', 'There is no such counter.')
}

/** The outcome of a command: the reason of its refusal, else "stored". */
export async function outcome(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'stored',
    (error: unknown) => (error instanceof RosterError ? error.reason : String(error)),
  )
}

/**
 * Checks all invariants of a database of counters. They must hold at any time: after any failure, and while calls are
 * still under way.
 */
export async function audit(sql: Sql): Promise<void> {
  await sql.begin('isolation level repeatable read read only', auditSnapshot)
}

async function auditSnapshot(sql: Transaction): Promise<void> {
  const events = await sql<
    { id: string; sequence: string; type: string; payload: unknown; position: string }[]
  >`select aggregate_id as id, sequence, type, payload, position from events order by position`
  const folded = new Map<string, { sequence: number; state: Counter }>()
  for (const { id, sequence, type, payload } of events) {
    const before = folded.get(id)
    if (Number(sequence) !== (before?.sequence ?? 0) + 1) throw new Error(`${id} has a gap before ${sequence}`)
    folded.set(id, {
      sequence: Number(sequence),
      state: evolveCounter(before?.state, { type, payload } as CounterEvent),
    })
  }
  const aggregates = await sql<
    { id: string; sequence: string; state: Counter }[]
  >`select id, sequence, state from aggregates`
  const counts = await sql<{ id: string; name: string; count: number }[]>`select id, name, count from counts`
  const keys = await sql<{ key: string; id: string }[]>`select key, aggregate_id as id from unique_keys`
  const sorted = (rows: string[]) => rows.sort().join('\n')
  const wanted = [...folded]
  const same = (what: string, left: string[], right: string[]) => {
    if (sorted(left) !== sorted(right))
      throw new Error(`${what}:\n${sorted(left)}\n--- but the events say\n${sorted(right)}`)
  }
  same(
    'aggregates',
    aggregates.map(({ id, sequence, state }) => `${id} ${sequence} ${state.name} ${state.count}`),
    wanted.map(([id, { sequence, state }]) => `${id} ${sequence} ${state.name} ${state.count}`),
  )
  same(
    'projection',
    counts.map(({ id, name, count }) => `${id} ${name} ${count}`),
    wanted.map(([id, { state }]) => `${id} ${state.name} ${state.count}`),
  )
  same(
    'unique keys',
    keys.map(({ key, id }) => `${key} ${id}`),
    wanted.map(([id, { state }]) => `${state.name} ${id}`),
  )
}
