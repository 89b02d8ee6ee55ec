import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { openDatabase, type Sql } from './database.ts'
import { roster } from '../health/release.ts'
import { migrate } from './migrate.ts'
import { add, count, openReplica, outcome, silent, writeMigrations } from '#test/support/counters'

let database: TestDatabase
let replicas: Sql[]

beforeAll(async () => {
  database = await createDatabase()
  replicas = Array.from({ length: 5 }, () => openDatabase(database.urls.users, 'test', silent))
})

afterAll(async () => {
  await Promise.all(replicas.map((sql) => sql.end({ timeout: 5 })))
  await database.drop()
})

const first = { '0001-a.sql': 'create table a (x int); insert into a values (1)' }

test('five replicas that start at once apply each migration once', async () => {
  const folder = await writeMigrations(first)
  await Promise.all(replicas.map((sql) => migrate(sql, folder, silent)))
  expect(await replicas[0]!`select x from a`).toEqual([{ x: 1 }])
  expect(await replicas[0]!`select distinct split_part(name, ' ', 1) as name from migrations order by name`).toEqual([
    { name: '0001-a.sql' },
    { name: 'functions.sql' },
    { name: 'operator.sql' },
    { name: 'release' },
    { name: 'schema-10.sql' },
    { name: 'schema-11.sql' },
    { name: 'schema-12.sql' },
    { name: 'schema-13.sql' },
    { name: 'schema-14.sql' },
    { name: 'schema-15.sql' },
    { name: 'schema-2.sql' },
    { name: 'schema-3.sql' },
    { name: 'schema-4.sql' },
    { name: 'schema-5.sql' },
    { name: 'schema-6.sql' },
    { name: 'schema-7.sql' },
    { name: 'schema-8.sql' },
    { name: 'schema-9.sql' },
    { name: 'schema.sql' },
  ])
})

test('a later start applies only new migrations, by name', async () => {
  const later = { '0010-c.sql': 'insert into a values (3)', '0002-b.sql': 'alter table a add y int default 7' }
  await migrate(replicas[0]!, await writeMigrations({ ...first, ...later }), silent)
  expect(await replicas[0]!`select x, y from a order by x`).toEqual([
    { x: 1, y: 7 },
    { x: 3, y: 7 },
  ])
})

test("a service's functions are replaced when their text changes, and an older replica restores none", async () => {
  const says = (text: string) => ({
    'functions.sql': `create or replace function says() returns text language sql as $$ select '${text}' $$`,
  })
  const start = async (text: string) =>
    migrate(replicas[0]!, await writeMigrations({ ...first, ...says(text) }), silent)
  for (const text of ['older', 'newer', 'older']) await start(text)
  expect(await replicas[0]!`select says()`).toEqual([{ says: 'newer' }])
})

test('a failed migration leaves nothing of this start behind', async () => {
  const broken = await writeMigrations({ '0020-d.sql': 'create table d (x int)', '0021-e.sql': 'select nonsense' })
  await expect(migrate(replicas[0]!, broken, silent)).rejects.toThrow('nonsense')
  const [row] = await replicas[0]!`select to_regclass('d') as d`
  expect(row).toEqual({ d: null })
})

describe('a schema of an earlier version', () => {
  let earlier: TestDatabase
  let sql: Sql
  const functionThatSays = (text: string) =>
    sql.unsafe(
      `create or replace function append(changes json, happened json, moment timestamptz, rest jsonb) returns void
       language plpgsql as $$ begin raise '${text}'; end $$`,
    )

  beforeAll(async () => {
    earlier = await createDatabase()
    sql = openDatabase(earlier.urls.users, 'test', silent)
    // As the first version did: the tables and the function come from one file, under one name.
    await sql.unsafe(readFileSync(new URL('./schema.sql', import.meta.url), 'utf8'))
    await functionThatSays('older')
    await sql`create table migrations (name text primary key, applied_at timestamptz not null default now())`
    await sql`insert into migrations (name) values ('schema.sql'), (${`release ${roster.former} after 0.0`})`
    await sql`
      insert into events (aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id, created_at)
      values ('counter', 'old', 1, 'added', '{"name": "old"}', 'house', '', '', now())
    `
    await sql`
      insert into aggregates values ('counter', 'old', 'house', 1, now(), now(), '{"name": "old", "count": 0}')
    `
  })
  afterAll(async () => {
    await sql.end({ timeout: 5 })
    await earlier.drop()
  })

  test('is migrated, and its objects continue where they were', async () => {
    const replica = await openReplica(earlier.urls.users)
    const { after } = await replica.store.execute(count('old'))
    expect(after).toMatchObject({ sequence: 2, state: { name: 'old', count: 1 } })
    expect(await outcome(replica.store.execute(add('new', 'new')))).toBe('stored')
    await replica.stop()
  })

  test('keeps its functions when a replica with an older text starts', async () => {
    await functionThatSays('newer')
    const replica = await openReplica(earlier.urls.users)
    expect(await outcome(replica.store.execute(count('old')))).toContain('newer')
    await replica.stop()
  })
})

test('the events of one organization are read from their own index, in commit order', async () => {
  const plan = await replicas[0]!<{ 'QUERY PLAN': string }[]>`
    explain select payload from events where organization_id = 'house' and (transaction_id, position) > ('7'::xid8, 7)
    order by events.transaction_id, events.position limit 100
  `
  const text = plan.map((row) => row['QUERY PLAN']).join('\n')
  expect(text).toContain('Index Scan using events_of_organization')
  expect(text).not.toContain('Sort')
})

test('a migration that was chosen to end a deadlock with a write runs again', async () => {
  const [migrating, writing] = replicas as [Sql, Sql]
  await migrating`create table first (x int); create table second (x int)`.simple()
  const folder = await writeMigrations({ '0020-d.sql': 'alter table first add y int; alter table second add y int' })
  let migrated: Promise<void> | undefined
  await writing.begin(async (transaction) => {
    await transaction`insert into second values (1)`
    migrated = migrate(migrating, folder, silent)
    const waiting = () => writing`select from pg_locks where not granted and relation = 'second'::regclass`
    await expect.poll(async () => (await waiting()).length).toBe(1)
    // Both wait now. The migration has waited longer, so PostgreSQL chooses it.
    await transaction`insert into first values (1)`
  })
  await migrated
  expect(await writing`select y from first union all select y from second`).toEqual([{ y: null }, { y: null }])
})
