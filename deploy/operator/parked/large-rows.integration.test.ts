import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'

let house: AuditedHouse

beforeAll(async () => {
  house = await startAuditedHouse()
}, 120_000)
afterAll(() => house?.stop())
afterEach(() => house.admin`truncate parked_events, parked_for_followers`.then(() => {}))

const megabytes = 128
const parked = async () =>
  (await house.admin`select from parked_events`).count + (await house.admin`select from parked_for_followers`).count

test(
  'parked list cuts texts that would fill the memory, with a mark, and shows the others whole',
  { timeout: 120_000 },
  async () => {
    const { admin, changed, rosterWithin } = house
    await admin`
    insert into parked_events (position, reason)
    select n, case when n <= 5 then repeat('x', 2000000 * n) else 'short' end from generate_series(1, 7) n
  `
    await admin`insert into parked_for_followers values ('f', '1', 7, 3, now() + interval '1 hour', repeat('y', 540000000))`
    await changed(
      () => admin`update events set type = repeat('z', 20000000) where position = 6`,
      async () => {
        const { status, out } = await rosterWithin(megabytes, 'parked', 'list', 'users')
        expect(status).toBe(1)
        for (const position of [1, 2, 3, 4, 5])
          expect(out).toMatch(
            new RegExp(`^users-${position} .* x{150,}… \\(cut: ${2 * position}0000\\d\\d bytes\\)$`, 'm'),
          )
        expect(out).toMatch(/^users-6 +\S+\.z{150,}… .* short… \(cut: 200000\d\d bytes\)$/m)
        expect(out).toMatch(/^users-7 .* short$/m)
        expect(out).toMatch(/^users\/f\/7 +3 +y{150,}… \(cut: 540000000 bytes\)$/m)
        const all = (await rosterWithin(megabytes, 'parked', 'list', 'users', '--json')).json()
        expect(all.map(({ cutFrom }) => cutFrom !== undefined)).toEqual([...Array(6).fill(true), false, true])
      },
    )
  },
)

test('parked list lists so many events of a service, and counts the others', { timeout: 60_000 }, async () => {
  const { admin, rosterWithin } = house
  await admin`insert into parked_events (position, reason) select n, repeat('x', 1000) from generate_series(1, 60000) n`
  await admin`insert into roster_grants.parked_events (position, reason) values (1, 'of grants')`
  try {
    const { status, out, err } = await rosterWithin(megabytes, 'parked', 'list')
    expect(status).toBe(1)
    expect(out.match(/^users-\d+ /gm)).toHaveLength(10_000)
    expect(out).toMatch(/^grants-1 .* of grants$/m)
    expect(err).toBe('users: 50000 more events are parked, and are not listed\n')
  } finally {
    await admin`delete from roster_grants.parked_events`
  }
})

test('parked retry and drop take every event, a page after the other', { timeout: 120_000 }, async () => {
  const { admin, roster, rosterWithin } = house
  await admin`insert into parked_events (position, reason) select n, repeat('x', 1000000) from generate_series(1, 50) n`
  await admin`insert into parked_events (position, reason) select n, 'x' from generate_series(51, 1200) n`
  await admin`
    insert into parked_for_followers select 'f', '1', n, 3, now() + interval '1 hour', 'x' from generate_series(1, 1100) n
  `
  expect((await rosterWithin(megabytes, 'parked', 'retry', '--all')).status).toBe(0)
  expect((await admin`select from parked_events where not retry`).count).toBe(0)
  expect((await admin`select from parked_for_followers where next_try_at > now()`).count).toBe(0)
  expect((await roster('parked', 'drop', '--all')).err).toContain('2300 events will never reach')
  const { status, out } = await rosterWithin(megabytes, 'parked', 'drop', '--all', '--yes')
  expect({ status, lines: out.trim().split('\n').length }).toEqual({ status: 0, lines: 2300 })
  expect(await parked()).toBe(0)
})

test(
  'events parked for a follower whose name would fill the memory are counted, and no other one is lost',
  { timeout: 120_000 },
  async () => {
    const { admin, rosterWithin } = house
    await admin`alter table parked_for_followers drop constraint parked_for_followers_pkey`
    await admin`drop index parked_for_followers_due`
    await admin`insert into parked_for_followers values (repeat('x', 540000000), '1', 7, 3, now(), ''), ('z', '1', 8, 3, now(), 'small')` // prettier-ignore
    const problem =
      'users: 1 events are parked for a follower whose name is longer than any of Roster, and are not read\n'
    try {
      expect(await rosterWithin(megabytes, 'parked', 'list', 'users')).toMatchObject({
        status: 1,
        out: expect.stringMatching(/^users\/z\/8 .* small$/m),
        err: problem,
      })
      expect(await rosterWithin(megabytes, 'parked', 'drop', '--all', '--yes')).toMatchObject({
        status: 1,
        out: 'users/z/8: done\n',
        err: problem,
      })
    } finally {
      await admin`delete from parked_for_followers`
      await admin`alter table parked_for_followers add primary key (follower, position)`
      await admin`create index parked_for_followers_due on parked_for_followers (follower, next_try_at)`
    }
  },
)

test('a table with a column of another type is not read: a number could be a text of any size', async () => {
  const { asUsers, rosterWithin } = house
  await asUsers('alter table parked_events alter column position type text')
  await house.admin`insert into parked_events (position, reason) values (repeat('x', 540000), '')`.catch(() => {})
  try {
    const { status, err } = await rosterWithin(megabytes, 'parked', 'list', 'users')
    expect(status).toBe(2)
    expect(err).toBe(
      'the table roster_users.parked_events is not read, because this hangs on it: column "position" of the type text and not bigint\n',
    )
  } finally {
    await house.admin`delete from parked_events`
    await asUsers('alter table parked_events alter column position type bigint using position::bigint')
  }
})
