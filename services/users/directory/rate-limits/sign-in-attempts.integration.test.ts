import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RosterError } from '#lib/errors'
import type { Sql } from '#lib/database/database'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { makeBrowser } from '../../sessions/browsers/session-cookie.ts'
import { countAttempt } from './sign-in-attempts.ts'
import { openUsers, type TestUsers } from '../../testing/test-users.ts'
import { deleteFullBuckets, returnToBuckets, takeFromBuckets } from './token-buckets.ts'

let database: TestDatabase
let replicas: TestUsers[]

beforeAll(async () => {
  database = await createDatabase()
  const settings = { ROSTER_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64') }
  replicas = [await openUsers(database.urls.users, settings), await openUsers(database.urls.users, settings)]
})

afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()))
  await database?.drop()
})

let made = 0
const fresh = () => `10.${(made >> 16) & 255}.${(made >> 8) & 255}.${made++ & 255}`
const newName = () => `name-${made++}`
const attempt = (loginName: string, address: string, userId?: string, isKnown = false) =>
  countAttempt(replicas[made++ % 2]!, { loginName, userId, address, isKnown })
const atKnown = (loginName: string, address: string, userId: string) => attempt(loginName, address, userId, true)
const waitOf = (work: Promise<unknown>) =>
  work.then(
    () => 0,
    ({ reason, retryAfter }: RosterError) => {
      expect(reason).toBe('SIGN_IN_THROTTLED')
      return retryAfter!
    },
  )
const passes = (seconds: number) =>
  replicas[0]!.sql`update turns set paid_until = paid_until - make_interval(secs => ${seconds})`

/** How many of the given number of tries pass. */
async function passing(tries: number, once: () => Promise<unknown>): Promise<number> {
  let count = 0
  for (let n = 0; n < tries; n++) if ((await waitOf(once())) === 0) count++
  return count
}

/** More than a hundred guesses at a name within an hour, from addresses of their own. */
async function attack(name: string) {
  for (let n = 0; n < 21; n++) {
    const from = fresh()
    for (let m = 0; m < 5; m++) await attempt(name, from)
  }
}

describe('attempts to sign in', () => {
  test('may be five at once, then one a minute, for a name from an address', async () => {
    const [name, from] = [newName(), fresh()]
    expect(await passing(8, () => attempt(name, from))).toBe(5)
    const wait = await waitOf(attempt(name, from))
    expect(wait).toBeGreaterThan(50)
    expect(wait).toBeLessThanOrEqual(60)
    await passes(wait)
    expect(await passing(3, () => attempt(name, from))).toBe(1)
  })

  test('count also if they come at once, at two replicas', async () => {
    const [name, from] = [newName(), fresh()]
    const waits = await Promise.all(Array.from({ length: 50 }, () => waitOf(attempt(name, from))))
    expect(waits.filter((wait) => wait === 0)).toHaveLength(5)
  })

  test('count one by one, although all of them looked before any was counted', async () => {
    const [name, from] = [newName(), fresh()]
    await attempt(name, from)
    // Each replica then has connections enough to wait with.
    await Promise.all(replicas.flatMap(({ sql }) => Array.from({ length: 8 }, () => sql`select pg_sleep(0.1)`)))
    const [holder, observer] = [replicas[0]!.sql, replicas[1]!.sql]
    let waits: Promise<number[]> | undefined
    await holder.begin(async (transaction) => {
      await transaction`select from turns for update`
      waits = Promise.all(Array.from({ length: 10 }, () => waitOf(attempt(name, from))))
      const waiting = () => observer<{ n: number }[]>`
        select count(*)::int as n from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'
      `
      await expect.poll(async () => (await waiting())[0]!.n, { timeout: 10_000 }).toBe(10)
    })
    expect((await waits!).filter((wait) => wait === 0)).toHaveLength(4)
  })

  test('are counted apart for another address and for another name', async () => {
    const [name, from] = [newName(), fresh()]
    await passing(6, () => attempt(name, from))
    expect(await waitOf(attempt(name, fresh()))).toBe(0)
    expect(await waitOf(attempt(newName(), from))).toBe(0)
  })

  test('count together for every spelling of a name', async () => {
    const from = fresh()
    const spellings = [
      'separate',
      'ＳＥＰＡＲＡＴＥ',
      'Separate@acme.localhost',
      'separate＠acme.localhost',
      'separate@a@b@c',
    ]
    for (const spelling of spellings) expect(await waitOf(attempt(spelling, from))).toBe(0)
    for (const spelling of spellings) expect(await waitOf(attempt(spelling, from))).toBeGreaterThan(0)
  })

  test('count together for all names of a user, and as often for a name that nobody has', async () => {
    const from = fresh()
    const names = [newName(), newName(), newName()]
    expect(await passing(3, () => attempt(names[0]!, from, 'user-3'))).toBe(3)
    expect(await passing(4, () => attempt(names[1]!, from, 'user-3'))).toBe(2)
    expect(await waitOf(attempt(names[2]!, from, 'user-3'))).toBeGreaterThan(0)
    // Who is called like the id of another, or has the other part of a name, waits for nobody.
    for (const [name, userId] of [['user-3'], [names[2]!], ['user-3', 'user-4']] as const)
      expect(await waitOf(attempt(name, from, userId))).toBe(0)
    const rowsOf = async (...tried: Parameters<typeof attempt>) => {
      await replicas[0]!.sql`delete from turns`
      await attempt(...tried)
      return (await replicas[0]!.sql`select from turns`).length
    }
    for (const address of [fresh(), '2001:db8:a::/64'])
      expect(await rowsOf(newName(), address)).toBe(await rowsOf(newName(), address, 'user-5'))
  })

  test('may be a hundred at once from one address, and refused ones store nothing', async () => {
    const from = fresh()
    expect(await passing(100, () => attempt(newName(), from))).toBe(100)
    const rows = async () => (await replicas[0]!.sql<{ n: number }[]>`select count(*)::int as n from turns`)[0]!.n
    // Takes away the tokens that came back with time.
    await replicas[0]!
      .sql`update turns set paid_until = paid_until + interval '1 minute' where paid_until > now() + interval '200 seconds'`
    const before = await rows()
    expect(await passing(5, () => attempt(newName(), from))).toBe(0)
    expect(await rows()).toBe(before)
  })

  test('are taken back if they succeed, also at once with others, without a deadlock', async () => {
    const [name, from] = [newName(), fresh()]
    for (let n = 0; n < 20; n++) await (await attempt(name, from)).takeBack()
    const work = Array.from({ length: 60 }, (_, n) =>
      attempt(`${name} ${n % 7}`, from).then(
        ({ takeBack }) => takeBack(),
        () => {},
      ),
    )
    await Promise.all(work)
    expect(await passing(6, () => attempt(name, from))).toBe(5)
  })

  test('leave no row once their buckets are full again', async () => {
    await attempt(newName(), fresh())
    await passes(86_400)
    await deleteFullBuckets(replicas[0]!.sql)
    expect(await replicas[0]!.sql`select from turns`).toHaveLength(0)
  })
})

describe('while a name is attacked', () => {
  test('a new address has full buckets', async () => {
    const name = newName()
    await attack(name)
    expect(await passing(6, () => attempt(name, fresh()))).toBe(6)
    const from = fresh()
    expect(await passing(6, () => attempt(name, from))).toBe(5)
  })

  test('a caller who failed ten times from an address waits a quarter of an hour, and no longer', async () => {
    const [name, from] = [newName(), fresh()]
    let passed = 0
    for (let minute = 0; minute < 10; minute++) {
      await attack(name)
      passed += await passing(6, () => attempt(name, from))
      await passes(60)
    }
    expect(passed).toBe(10)
    const wait = await waitOf(attempt(name, from))
    expect(wait).toBeLessThanOrEqual(900)
    expect(wait).toBeGreaterThan(60)
    await passes(wait)
    expect(await waitOf(attempt(name, from))).toBe(0)
  })

  test('its user has buckets of its own at a known address, and no one else there can empty them', async () => {
    const [name, from] = [newName(), fresh()]
    await attack(name)
    await passing(101, () => attempt(newName(), from))
    expect(await waitOf(attempt(newName(), from))).toBeGreaterThan(0)
    expect(await passing(6, () => atKnown(name, from, 'user-1'))).toBe(5)
    expect(await waitOf(atKnown(name, from, 'user-1'))).toBeLessThanOrEqual(30)
    expect(await waitOf(atKnown(name, from, 'user-2'))).toBe(0)
  })
})

describe('a /48 of IPv6', () => {
  let networks = 0
  const inside = (network: number) => `2001:db8:${network.toString(16)}:${(networks++).toString(16)}::/64`

  test('has 64 attempts at a name at once, from however many addresses, then one in ten seconds', async () => {
    const name = newName()
    expect(await passing(80, () => attempt(name, inside(1)))).toBe(64)
    expect(await waitOf(attempt(name, inside(1)))).toBeLessThanOrEqual(10)
    expect(await waitOf(attempt(name, inside(2)))).toBe(0)
    expect(await waitOf(attempt(newName(), inside(1)))).toBe(0)
  })
})

test.each<[string, (sql: Sql) => Promise<unknown>]>([
  ['takes from a bucket', (sql) => takeFromBuckets(sql, [{ key: 'aa', most: 5, pause: 60, kind: 'always' }])],
  ['returns to it', (sql) => returnToBuckets(sql, [{ key: 'aa', most: 5, pause: 60, kind: 'always' }])],
  ['makes a browser', (sql) => makeBrowser(sql, '')],
])('a commit that %s does not wait for the WAL: the work that follows it does', async (_, work) => {
  const setting = await replicas[0]!.sql.begin(async (transaction) => {
    await work(transaction as unknown as Sql)
    const [row] = await transaction`select current_setting('synchronous_commit') as value`
    return row!['value'] as string
  })
  expect(setting).toBe('off')
})
