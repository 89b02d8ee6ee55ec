import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import type { Refusal } from '../../context.ts'
import { searchArrivals } from '../../internal/search-arrivals.ts'
import { callIn, openUsers, type TestUsers } from '../../testing/test-users.ts'
import { noteApplication } from '../authorization/testing/visitors.ts'
import { deleteArrivals } from './arrival-rows.ts'
import { openArrivals } from './arrivals.ts'

let database: TestDatabase
let users: TestUsers
beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  await noteApplication(users, 'client')
  await noteApplication(users, 'flooded')
})
beforeEach(() => users.sql`truncate application_steps, application_refusals`)
afterEach(async () => {
  vi.useRealTimers()
  await shiftClock(users.sql, '0')
})
afterAll(async () => {
  await users?.stop()
  await database?.drop()
})

const refusal = (clientId: string, sent: string): Refusal => ({
  clientId,
  cause: 'redirect-uri',
  parameter: 'redirect_uri',
  sent,
  allowed: [],
  description: 'redirect_uri is none that the application has registered.',
})
const found = (applicationId: string, more = {}) =>
  searchArrivals(users, { applicationId, limit: 1000, cursor: '', withTotal: true, ...more }, callIn('acme'))

/** Notes refusals, and stores them as a process does that ends. */
async function refuse(...refusals: Refusal[]) {
  const arrivals = openArrivals(users.sql, users.log)
  for (const each of refusals) arrivals.refuse(each, '192.0.2.1')
  await arrivals.stop()
}

test('what names no application that is there is not kept', async () => {
  const arrivals = openArrivals(users.sql, users.log)
  arrivals.step('unknown', 'request')
  arrivals.refuse(refusal('unknown', 'x'), '192.0.2.1')
  arrivals.step('client', 'request')
  await arrivals.stop()
  expect(await users.sql`select application_id, step from application_steps`).toEqual([
    { application_id: 'app-client', step: 'request' },
  ])
  expect(await users.sql`select from application_refusals`).toHaveLength(0)
})

test('refusals alike within a second are one row, with their number', async () => {
  await refuse(refusal('client', 'a'), refusal('client', 'a'), refusal('client', 'b'), refusal('client', 'a'))
  const { refusals } = await found('app-client')
  expect(refusals.map(({ sent, count }) => [sent, count])).toEqual([
    ['b', 1],
    ['a', 3],
  ])
})

test('of a flood some are kept, the rest is counted, and other senders and applications lose nothing', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval'] })
  const arrivals = openArrivals(users.sql, users.log)
  // Addresses of one /48 are one sender.
  for (let each = 0; each < 5000; each++)
    arrivals.refuse(refusal('flooded', `flood-${each}`), `2001:db8:1:${(each % 4).toString(16)}::`)
  arrivals.refuse(refusal('client', 'alone'), '2001:db8:1:0::')
  arrivals.refuse(refusal('flooded', "the developer's"), '192.0.2.1')
  vi.advanceTimersByTime(31_000)
  arrivals.refuse(refusal('flooded', 'later'), '2001:db8:1:5::')
  arrivals.refuse(refusal('flooded', 'too many again'), '2001:db8:1:6::')
  await arrivals.stop()
  const { refusals, total } = await found('app-flooded')
  expect([total, ...refusals.slice(0, 2)]).toEqual([
    32,
    expect.objectContaining({ sent: 'later', leftOut: 0 }),
    expect.objectContaining({ sent: "the developer's", leftOut: 4970 }),
  ])
  expect((await found('app-client')).refusals.map(({ sent }) => sent)).toEqual(['alone'])
})

test('of an application, many senders have three hundred at once, and then twenty a minute', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval'] })
  const arrivals = openArrivals(users.sql, users.log)
  for (let each = 0; each < 1000; each++)
    arrivals.refuse(refusal('flooded', `a-${each}`), `2001:db8:${each.toString(16)}::`)
  vi.advanceTimersByTime(61_000)
  for (let each = 0; each < 1000; each++)
    arrivals.refuse(refusal('flooded', `b-${each}`), `2001:db8:${each.toString(16)}::`)
  await arrivals.stop()
  expect((await found('app-flooded')).total).toBe(320)
})

test('of an application a thousand are kept, and of each that goes the oldest goes first', async () => {
  await users.sql`
    insert into application_refusals (application_id, id, at, cause, parameter, sent, allowed, description, count, left_out)
    select 'app-client', ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, roster_now(), 'client', '', n::text,
      '{}', '', 1, 0
    from generate_series(1, 1000) n
  `
  await refuse(refusal('client', 'newest'))
  const { refusals, total, nextCursor } = await found('app-client', { limit: 999 })
  expect([total, refusals[0]!.sent, refusals.at(-1)!.sent]).toEqual([1000, 'newest', '3'])
  expect((await found('app-client', { cursor: nextCursor, limit: 999 })).refusals.map(({ sent }) => sent)).toEqual([
    '2',
  ])
})

test('after seven days nothing is shown, and then it is deleted', async () => {
  const arrivals = openArrivals(users.sql, users.log)
  arrivals.step('client', 'request')
  arrivals.refuse(refusal('client', 'x'), '192.0.2.1')
  await arrivals.stop()
  const rows = async () =>
    (await users.sql`select at from application_steps union all select at from application_refusals`).length
  await shiftClock(users.sql, '6 days')
  await deleteArrivals(users.sql)
  expect(await rows()).toBe(2)
  expect(await found('app-client')).toMatchObject({ total: 1, steps: [{ step: 'request' }] })
  await shiftClock(users.sql, '7 days 1 minute')
  expect(await found('app-client')).toMatchObject({ total: 0, refusals: [], steps: [] })
  await deleteArrivals(users.sql)
  expect(await rows()).toBe(0)
})
