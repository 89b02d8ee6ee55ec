import { beforeAll, expect, test } from 'vitest'
import { RosterError } from '../errors.ts'
import type { Sql, Transaction } from '../database/database.ts'
import type { Aggregate } from './aggregate.ts'
import type { Decision } from './command.ts'
import { add, audit, call, type Counter, openReplicas, outcome, rename, type Replica } from '#test/support/counters'

let [a, b]: Replica[] = []

beforeAll(async () => {
  const { replicas, stop } = await openReplicas()
  ;[a, b] = replicas
  await a!.sql`create table visits (counter text not null)`
  return stop
})

// Whoever writes visits waits for this lock, after the aggregates were locked.
const gate = 5150
const passes = (sql: Transaction) => sql`select pg_advisory_xact_lock_shared(${gate})`

const over = new RosterError('NOT_FOUND', 'OVER', '')

/** Leaves a visit at a counter that is not over, and no event. */
function visit(id: string, more: Partial<Decision> = { commits: true }, reads: string[] = []) {
  return {
    aggregate: { type: 'counter', id },
    reads: { others: reads.map((read) => ({ type: 'counter', id: read })) },
    call: call(),
    decide(counter: Aggregate<Counter>, _now: Date, { others }: { others: Aggregate<Counter>[] }): Decision {
      if ([counter, ...others].some(({ state }) => state!.name.startsWith('over'))) throw over
      return {
        events: [],
        writes: [passes, (sql: Transaction) => sql`insert into visits values (${id})`],
        answer: undefined,
        ...more,
      }
    },
  }
}

/** Ends a counter, and deletes its visits. */
function end(id: string, visited = id) {
  const command = rename(id, `over-${id}`)
  return {
    ...command,
    decide: (counter: Aggregate<Counter>) => ({
      ...command.decide(counter),
      writes: [passes, (sql: Transaction) => sql`delete from visits where counter = ${visited}`],
    }),
  }
}

const visits = async (id: string) => (await a!.sql`select from visits where counter = ${id}`).count

async function waiting(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
  `
  return row!.n
}

/** `first` holds its locks while `second` begins at another replica. Their outcomes. */
async function raced(first: any, second: any): Promise<string[]> {
  const free = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  const gatekeeper = a!.sql.begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(${gate})`
    closed.resolve()
    await free.promise
  })
  await closed.promise
  const one = outcome(a!.store.execute(first))
  await expect.poll(() => waiting(b!.sql)).toBe(1)
  const other = outcome(b!.store.execute(second))
  await expect.poll(() => waiting(b!.sql)).toBe(2)
  free.resolve()
  await gatekeeper
  return Promise.all([one, other])
}

test('what is written without an event is stored only by a decision that commits', async () => {
  await a!.store.execute(add('plain', 'plain'))
  await a!.store.execute(visit('plain'))
  await a!.store.execute(visit('plain', {}))
  expect(await visits('plain')).toBe(1)
  expect((await a!.store.load('counter', 'plain'))?.sequence).toBe(1)
})

test('an end that comes after a visit waits for it, and takes it away', async () => {
  await a!.store.execute(add('late', 'late'))
  expect(await raced(visit('late'), end('late'))).toEqual(['stored', 'stored'])
  expect(await visits('late')).toBe(0)
})

test('a visit that comes after an end waits for it, and decides again', async () => {
  await a!.store.execute(add('early', 'early'))
  expect(await raced(end('early'), visit('early'))).toEqual(['stored', 'OVER'])
  expect(await visits('early')).toBe(0)
})

test('so it is with what a visit only reads', async () => {
  for (const id of ['guest', 'host', 'guest-2', 'host-2']) await a!.store.execute(add(id, id))
  expect(await raced(visit('guest', { commits: true }, ['host']), end('host', 'guest'))).toEqual(['stored', 'stored'])
  expect(await visits('guest')).toBe(0)
  expect(await raced(end('host-2'), visit('guest-2', { commits: true }, ['host-2']))).toEqual(['stored', 'OVER'])
  expect(await visits('guest-2')).toBe(0)
})

test('in one batch they follow in the order of its commands, and a refused one writes nothing', async () => {
  await a!.store.execute(add('shared', 'shared'))
  const batch = [visit('shared'), end('shared'), visit('shared')]
  expect(await Promise.all(batch.map((command: any) => outcome(a!.store.execute(command))))).toEqual([
    'stored',
    'stored',
    'OVER',
  ])
  expect(await visits('shared')).toBe(0)
})

test('where another command breaks their batch, they are stored once all the same', async () => {
  for (const id of ['whole', 'broken']) await a!.store.execute(add(id, id))
  const both = [visit('whole'), visit('broken', { commits: true, writes: [(sql) => sql`select 1 / 0`] })]
  const [whole, broken] = await Promise.all(both.map((command: any) => outcome(a!.store.execute(command))))
  expect([whole, await visits('whole'), broken]).toEqual(['stored', 1, expect.stringContaining('division by zero')])
  await audit(a!.sql)
})
