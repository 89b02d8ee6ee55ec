import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TextQueryMethod } from '#gen/roster/object/v1/search'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { canonicalName } from './canonical-name.ts'
import { openDatabase, type Sql, type Transaction } from '../database/database.ts'
import { encryptionKey } from '../encryption/keys.ts'
import { createLog } from '../log.ts'
import { type Page, search, type Search } from './search.ts'
import { matchesText } from './matches-text.ts'
import { textCondition } from './text-condition.ts'

const keys = encryptionKey.read(randomBytes(32).toString('base64'))
const rows = 60_000

let database: TestDatabase
let sql: Sql

beforeAll(async () => {
  database = await createDatabase()
  sql = openDatabase(database.urls.users, 'test', createLog('test', 'silent'))
  await sql`
    create table things (
      owner text not null, id bigint not null, made_at timestamptz not null,
      name text not null, canonical_name text collate "C" not null, primary key (owner, id)
    )
  `
  await sql`create index things_by_age on things (owner, made_at, id)`
  await sql`create index things_by_name on things (owner, canonical_name, id)`
  await sql`create index things_by_text on things using gin (owner, canonical_name roster_extensions.gin_trgm_ops)`
  // Many are of the same moment. It has microseconds, which a Date has not.
  await sql`
    insert into things
    select owner, id, timestamptz '2026-01-01 00:00:00.000001Z' + id / 100 * interval '1 microsecond', name, name
    from unnest(array['acme', 'other']) owner, generate_series(1, ${rows}) id, lateral (select 'thing ' || id as name) n
  `
  await sql`vacuum analyze things`
})
afterAll(async () => {
  await sql.end({ timeout: 5 })
  await database.drop()
})

interface Thing {
  id: string
  name: string
}

type Options = Partial<Pick<Search, 'where' | 'order'>> & {
  limit?: number
  cursor?: string
  withTotal?: boolean
  organizationId?: string
}

function find(options: Options, connection = sql): Promise<Page<Thing>> {
  const { where, order, limit = 20, cursor = '', withTotal = false, organizationId = 'acme' } = options
  return search<Thing>(
    { sql: connection, keys },
    {
      method: 'SearchThings',
      request: { limit, cursor, withTotal },
      call: { caller: { userId: 'alice' }, organizationId },
      columns: sql`id, name`,
      from: sql`things`,
      where: sql`owner = 'acme' ${where ? sql`and ${where}` : sql``}`,
      order: order ?? byAge(),
    },
  )
}

const byAge = (descending = false): Search['order'] => ({
  by: [
    { column: sql`made_at`, type: 'timestamptz' },
    { column: sql`id`, type: 'bigint' },
  ],
  descending,
})

/** Makes searches run in this transaction, and not in one of their own. */
function searchingIn(transaction: Transaction): Sql {
  const begin = (work: (same: Transaction) => unknown) => work(transaction)
  return Object.assign(transaction, { begin }) as unknown as Sql
}

/** All ids of a search, page by page. `between` runs after each page. */
async function all(options: Options, between: () => Promise<void> = async () => {}): Promise<number[]> {
  const ids: number[] = []
  for (let cursor = ''; ;) {
    const page = await find({ ...options, cursor })
    ids.push(...page.rows.map(({ id }) => Number(id)))
    await between()
    if (page.nextCursor === '') return ids
    cursor = page.nextCursor
  }
}

const upTo = (number: number) => Array.from({ length: number }, (_, index) => index + 1)

test('pages hold every row once in both directions, with 50 rows unless the caller says otherwise', async () => {
  expect((await find({ limit: 0 })).rows).toHaveLength(50)
  const few = { limit: 7, where: sql`id <= 500` }
  expect(await all(few)).toEqual(upTo(500))
  expect(await all({ ...few, order: byAge(true) })).toEqual(upTo(500).toReversed())
})

test('a last page that is full has no cursor after it', async () => {
  expect(await find({ limit: 10, where: sql`id <= 10` })).toMatchObject({ nextCursor: '' })
})

test('no row is missed or repeated while others come and go', async () => {
  let n = 0
  const ids = await all({ limit: 10, where: sql`id <= 300` }, async () => {
    n++
    // One before the place of the page, one after it, and one of the very moment of its last row.
    await sql`
      insert into things select 'acme', -${n}::int - 100 * k, made_at, 'later', 'later'
      from unnest(array[1, 2, 3]) k, lateral (
        select made_at from things where owner = 'acme' and id = case k when 1 then 1 when 2 then 300 else ${n * 10}::int end
      ) m
    `
  })
  await sql`delete from things where id < 0`
  const old = ids.filter((id) => id > 0)
  expect(old).toEqual(upTo(300))
  expect(new Set(ids).size).toBe(ids.length)
})

test('page 1,000 reads as few rows as page 1', async () => {
  const costs: number[] = []
  // PostgreSQL says what the transaction has read until now.
  await sql.begin(async (transaction) => {
    const read = async () => {
      const [row] = await transaction<[{ read: number }]>`
        select (coalesce(seq_tup_read, 0) + idx_tup_fetch)::int as read from pg_stat_xact_user_tables where relname = 'things'
      `
      return row.read
    }
    const same = searchingIn(transaction)
    let cursor = ''
    for (let page = 1; page <= 1000; page++) {
      const before = await read()
      ;({ nextCursor: cursor } = await find({ limit: 20, cursor }, same))
      costs.push((await read()) - before)
    }
  })
  expect([costs[0], costs[999]]).toEqual([21, 21])
})

test('a connection keeps no form of a search', async () => {
  await sql.begin(async (transaction) => {
    await find({ where: sql`name = ${'thing 1'}` }, searchingIn(transaction))
    const like = '%place_in_order%'
    expect(await transaction`select from pg_prepared_statements where statement like ${like}`).toHaveLength(0)
  })
})

test('a total is given where it is asked for, and counts to 10,000', async () => {
  expect((await find({})).total).toBeUndefined()
  expect((await find({ withTotal: true })).total).toBe(10_000)
  const few = { where: sql`id <= 45`, withTotal: true }
  const first = await find(few)
  expect(first.total).toBe(45)
  expect((await find({ ...few, cursor: first.nextCursor })).total).toBe(45)
  expect((await find({ where: sql`id < 0`, withTotal: true })).total).toBe(0)
})

test('a page of large rows ends early, and the next one goes on there', async () => {
  const large = 'ä'.repeat(100_000)
  await sql`insert into things select 'acme', -i, now(), ${large}, ${large} from generate_series(1, 12) i`
  const page = await find({ where: sql`id < 0`, limit: 12 })
  expect(page.rows).toHaveLength(5)
  expect(await all({ where: sql`id < 0`, limit: 12, order: byAge() })).toHaveLength(12)
  await sql`delete from things where id < 0`
})

test('each method compares a text as its name says, and no character of it is a pattern', async () => {
  const names = ['50% Ä_x', '50% ä_X', 'My 50% Ä_x', '50x Äyx', String.raw`50\% Ä_x`, '50% Ä_x too', '５０% Ä_x']
  for (const [index, name] of names.entries())
    await sql`insert into things values ('acme', ${-index - 1}, now(), ${name}, ${canonicalName(name)})`
  const found = async (text: string, method: TextQueryMethod) => {
    const column = { exact: sql`name`, canonical: sql`canonical_name` }
    const where = sql`id < 0 and ${textCondition(sql, column, text, method)}`
    return new Set((await find({ where, limit: 100 })).rows.map((row) => names[-Number(row.id) - 1]))
  }
  const [text, sameInAnyCase] = [names[0]!, [names[0]!, names[1]!, names[6]!]]
  const cases: [TextQueryMethod, string[]][] = [
    [TextQueryMethod.TEXT_QUERY_METHOD_EQUALS, [text]],
    [TextQueryMethod.TEXT_QUERY_METHOD_EQUALS_IGNORE_CASE, sameInAnyCase],
    [TextQueryMethod.TEXT_QUERY_METHOD_STARTS_WITH, [text, names[5]!]],
    [TextQueryMethod.TEXT_QUERY_METHOD_STARTS_WITH_IGNORE_CASE, [...sameInAnyCase, names[5]!]],
    [TextQueryMethod.TEXT_QUERY_METHOD_CONTAINS, [text, names[2]!, names[5]!]],
    [TextQueryMethod.TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE, [...sameInAnyCase, names[2]!, names[5]!]],
    [TextQueryMethod.TEXT_QUERY_METHOD_ENDS_WITH, [text, names[2]!]],
    [TextQueryMethod.TEXT_QUERY_METHOD_ENDS_WITH_IGNORE_CASE, [...sameInAnyCase, names[2]!]],
  ]
  for (const [method, expected] of cases)
    expect([method, await found(text, method)]).toEqual([method, new Set(expected)])
  await sql`delete from things where id < 0`
})

test('a text is found beside marks that compose with it, as it is written', async () => {
  const names = ['Zoe\u0301', 'Zoé', 'A\u0323\u0301b', 'ΟΔΟΣ', 'ΟΔΟΣΑ', '\u1112\u1161\u11ab', 'e\u0301.*', 'ｶﾞ']
  const texts = [
    'Zoe',
    'Zo',
    'e',
    'e\u0301',
    '\u0301',
    'A',
    'A\u0323',
    'ΟΣ',
    'Σ',
    'ΟΔΟΣ',
    '\u1112',
    '\u1161',
    '.*',
    '\u0301.',
    'ｶ',
    'ﾞ',
  ]
  for (const [index, name] of names.entries())
    await sql`insert into things values ('acme', ${-index - 1}, now(), ${name}, ${canonicalName(name)})`
  for (const text of texts)
    for (const method of [0, 2, 4, 6] as TextQueryMethod[]) {
      const condition = textCondition(sql, { exact: sql`name`, canonical: sql`canonical_name` }, text, method)
      const { rows } = await find({ where: sql`id < 0 and ${condition}`, limit: 100 })
      const found = rows.map((row) => names[-Number(row.id) - 1]!)
      expect([text, method, found.toSorted()]).toEqual([
        text,
        method,
        names.filter((name) => matchesText(name, { text, method })).toSorted(),
      ])
    }
  await sql`delete from things where id < 0`
})

test('a text within names is found by the trigram index, and a prefix by the index of the order', async () => {
  // The rows of other tests, and those that wait to be indexed, would change what the planner thinks.
  await sql`vacuum analyze things`
  const plan = async (text: string, method: TextQueryMethod) => {
    const column = { exact: sql`name`, canonical: sql`canonical_name` }
    const lines = await sql<{ 'QUERY PLAN': string }[]>`
      explain select id from things where owner = 'acme' and ${textCondition(sql, column, text, method)}
      order by made_at, id limit 21
    `
    return lines.map((line) => line['QUERY PLAN']).join('\n')
  }
  // A text of few rows: what ends like a bound of a histogram, the planner takes for a hundredth of all.
  expect(await plan('ing 51234', TextQueryMethod.TEXT_QUERY_METHOD_CONTAINS)).toContain('things_by_text')
  expect(await plan('g 51234', TextQueryMethod.TEXT_QUERY_METHOD_ENDS_WITH_IGNORE_CASE)).toContain('things_by_text')
  expect(await plan('thing 1234', TextQueryMethod.TEXT_QUERY_METHOD_STARTS_WITH)).toContain('things_by_')
})

describe('searches that take long', () => {
  const lock = 4711
  // The locked ones wait until somebody frees the lock.
  const slow = () => find({ where: sql`pg_advisory_xact_lock_shared(${lock}) is not null`, limit: 1 })

  async function whileLocked(work: () => Promise<void>): Promise<void> {
    const held = openDatabase(database.urls.users, 'test', createLog('test', 'silent'))
    try {
      await held.begin(async (transaction) => {
        await transaction`select pg_advisory_xact_lock(${lock})`
        await work()
      })
    } finally {
      await held.end()
    }
  }

  test('leave a search of another organization and a write alone', async () => {
    const ended: unknown[] = []
    let all: Promise<unknown> | undefined
    await whileLocked(async () => {
      all = Promise.allSettled(Array.from({ length: 30 }, () => slow().finally(() => ended.push(1))))
      const other = await find({ where: sql`id = 7`, organizationId: 'other', withTotal: true })
      await sql`update things set name = name where owner = 'acme' and id = 7`
      expect([other.rows.length, ended.length]).toEqual([1, 0])
    })
    const outcomes = (await all) as PromiseSettledResult<unknown>[]
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(30)
  })

  test('end with an error that says so', async () => {
    await whileLocked(() =>
      expect(slow()).rejects.toMatchObject({ code: 8, reason: 'SEARCH_TOO_LONG', retryAfter: 10 }),
    )
    expect((await slow()).rows).toHaveLength(1)
  })

  test('are refused where too many wait, and only those of the organization that sent them', async () => {
    let all: Promise<PromiseSettledResult<unknown>[]> | undefined
    await whileLocked(async () => {
      all = Promise.allSettled(Array.from({ length: 300 }, slow))
      await find({ where: sql`id = 7`, organizationId: 'other' })
    })
    const reasons = (await all!).flatMap((one) => (one.status === 'rejected' ? [one.reason.reason] : []))
    // Two run and 256 wait. One more gave way to the other organization.
    expect(reasons).toEqual(Array.from({ length: 300 - 2 - 256 + 1 }, () => 'STORE_OVERLOADED'))
  })
})
