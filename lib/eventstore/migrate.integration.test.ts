import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '../../test/infra-database.ts'
import { openDatabase, type Sql } from './database.ts'
import { migrate } from './migrate.ts'
import { silent, writeMigrations } from './test-counters.ts'

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
  expect(await replicas[0]!`select name from migrations order by name`).toEqual([
    { name: '0001-a.sql' },
    { name: 'schema.sql' },
  ])
})

test('a later start applies only what is new, in the order of the names', async () => {
  const later = { '0010-c.sql': 'insert into a values (3)', '0002-b.sql': 'alter table a add y int default 7' }
  await migrate(replicas[0]!, await writeMigrations({ ...first, ...later }), silent)
  expect(await replicas[0]!`select x, y from a order by x`).toEqual([
    { x: 1, y: 7 },
    { x: 3, y: 7 },
  ])
})

test('a migration that fails leaves nothing of this start behind', async () => {
  const broken = await writeMigrations({ '0020-d.sql': 'create table d (x int)', '0021-e.sql': 'select nonsense' })
  await expect(migrate(replicas[0]!, broken, silent)).rejects.toThrow('nonsense')
  const [row] = await replicas[0]!`select to_regclass('d') as d`
  expect(row).toEqual({ d: null })
})
