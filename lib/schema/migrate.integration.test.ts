import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { openDatabase, type Sql } from '../database/database.ts'
import { migrate } from './migrate.ts'
import { silent, writeMigrations } from '#test/support/counters'

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
    { name: 'event-store/0001-event-store.sql' },
    { name: 'event-store/0002-histories.sql' },
    { name: 'event-store/0003-folds.sql' },
    { name: 'functions.sql' },
    { name: 'operator.sql' },
    { name: 'release' },
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

// Whoever makes an index waits for the end of each transaction that has a snapshot at that moment.
test('five replicas that start at once with new indexes do not wait for each other for ever', async () => {
  const indexes = Array.from({ length: 150 }, (_, n) => [
    `0004-${n + 100}.concurrently.sql`,
    `create index concurrently if not exists a_${n} on a (x);`,
  ])
  const folder = await writeMigrations({ ...first, ...Object.fromEntries(indexes) })
  await Promise.all(replicas.map((sql) => migrate(sql, folder, silent)))
  const made = await replicas[0]!`select from pg_class where relname ~ '^a_\\d+$' and relkind = 'i'`
  expect(made).toHaveLength(150)
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

test('the events of one organization are read from their own index, in commit order', async () => {
  const plan = await replicas[0]!<{ 'QUERY PLAN': string }[]>`
    explain select payload from events where organization_id = 'house' and (transaction_id, position) > ('7'::xid8, 7)
    order by events.transaction_id, events.position limit 100
  `
  const text = plan.map((row) => row['QUERY PLAN']).join('\n')
  expect(text).toContain('Index Scan using events_of_organization')
  expect(text).not.toContain('Sort')
})

test('where a build of an index was broken off, the next start makes it, and passes over those that are there', async () => {
  const [sql] = replicas as [Sql]
  await sql`create table built (x int); insert into built values (1), (1)`.simple()
  const indexes = (unique: string) => ({
    '0030-built.concurrently.sql': `
      -- Found by its number.
      create index concurrently if not exists built_whole on built (x);
      create ${unique}index concurrently if not exists built_broken on built (x);
    `,
  })
  await expect(migrate(sql, await writeMigrations(indexes('unique ')), silent)).rejects.toThrow('built_broken')
  const valid = async () =>
    (
      await sql<{ name: string; isValid: boolean }[]>`
        select indexrelid::regclass::text as name, indisvalid as "isValid" from pg_index
        where indrelid = 'built'::regclass order by 1
      `
    ).map(({ name, isValid }) => [name, isValid])
  expect(await valid()).toEqual([
    ['built_broken', false],
    ['built_whole', true],
  ])
  await Promise.all(replicas.map(async (one) => migrate(one, await writeMigrations(indexes('')), silent)))
  expect(await valid()).toEqual([
    ['built_broken', true],
    ['built_whole', true],
  ])
  // Later callers find the connection as it was.
  const found = await Promise.all(Array.from({ length: 8 }, () => sql`show search_path`))
  expect(new Set(found.map(([row]) => row!['search_path']))).toEqual(new Set(['"$user"']))
})

test('a file of indexes has no other statements', async () => {
  const folder = await writeMigrations({ '0040-x.concurrently.sql': 'create index on built (x)' })
  await expect(migrate(replicas[0]!, folder, silent)).rejects.toThrow('may make and drop indexes alone')
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
