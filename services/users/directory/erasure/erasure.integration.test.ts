import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Nats } from '#lib/nats/connect-nats'
import { restoreUser } from '../operations/user/restore-user.ts'
import { removedUntil } from '../states/removed-user.ts'
import { callIn } from '../../testing/test-users.ts'
import type { User } from '../events/user.ts'
import { eraseDue } from './erase-due.ts'
import { startErasureInStatistics } from './erase-in-statistics.ts'
import { onlyTheEnd, openRemovals, type Removals, soon } from './testing/removals.ts'

let removals: Removals

beforeAll(async () => {
  removals = await openRemovals()
})
beforeEach(() => removals.begin())
afterAll(() => removals?.stop())

test('of a removed user the stream keeps the removal alone, and the row says so', async () => {
  removals.start()
  const [userId, other] = [await removals.addHuman(), await removals.addHuman()]
  await removals.remove(userId)
  await removals.done(userId)
  expect(await removals.held(userId)).toEqual(onlyTheEnd(userId))
  expect((await removals.rowOf(userId))!['stream_events']).toBeGreaterThan(1)
  expect((await removals.held(other)).length).toBeGreaterThan(1)
  expect(await removals.rowOf(other)).toBeUndefined()
})

test('the row is there since the removal, and waits until the keeper of the stream comes back', async () => {
  const userId = await removals.addHuman()
  await removals.stopKeeper()
  removals.start()
  await removals.remove(userId)
  expect(await removals.rowOf(userId)).toMatchObject({ organization_id: 'acme', done: false })
  await removals.startKeeper()
  await removals.done(userId)
  expect(await removals.held(userId)).toEqual(onlyTheEnd(userId))
})

test.each(['before', 'after'])('another replica goes on where one was lost %s the keeper did it', async (when) => {
  const userId = await removals.addHuman()
  const lost = Promise.withResolvers<void>()
  const ask: Nats['ask'] = (subject, ...rest) => {
    if (!subject.startsWith('roster.stream.forget.')) return removals.nats.ask(subject, ...rest)
    if (when === 'before') lost.resolve()
    else removals.nats.ask(subject, ...rest).answer.then(() => lost.resolve(), lost.reject)
    return { answer: new Promise(() => {}), fail: () => {} }
  }
  // It is lost for good, so no test waits for its end.
  removals.start({ ...removals.nats, ask })
  removals.abandon()
  await removals.remove(userId)
  await lost.promise
  expect(await removals.rowOf(userId)).toMatchObject({ done: false })
  removals.start()
  await removals.done(userId)
  expect(await removals.held(userId)).toEqual(onlyTheEnd(userId))
})

test('nothing is asked for before the removal is published', async () => {
  const userId = await removals.addHuman()
  await removals.stopOutbox()
  let looks = 0
  let asked = false
  const ask: Nats['ask'] = (subject, ...rest) => {
    asked ||= subject.startsWith('roster.stream.forget.')
    return removals.nats.ask(subject, ...rest)
  }
  await removals.remove(userId)
  removals.start({ ...removals.nats, ask }, () => looks++)
  // It looks again once it could do nothing.
  await vi.waitFor(() => expect(looks).toBeGreaterThan(20), soon)
  expect(asked).toBe(false)
  removals.startOutbox()
  await removals.done(userId)
  expect(await removals.held(userId)).toEqual(onlyTheEnd(userId))
  const [row] = await removals.users.sql<[{ generation: number }]>`select generation from published`
  expect(row.generation).toBe(0)
})

describe('a removal that can be undone', () => {
  const later = new Date(Date.now() + 2 * 86_400_000)
  const removeFor = (userId: string, forgetAt: Date) =>
    removals.users.store.execute({
      aggregate: { type: 'user', id: userId },
      call: callIn('acme'),
      decide: () => removedUntil(forgetAt),
    })
  const tomorrow = () => new Date(Date.now() + 86_400_000)
  const claimed = async (userId: string) =>
    (await removals.users.sql`select 1 from unique_keys where aggregate_id = ${userId}`).length
  const keys = async (userId: string) =>
    (await removals.users.sql`select 1 from subject_keys where subject_id = ${userId}`).length
  const stateOf = async (userId: string) => (await removals.users.store.load<User>('user', userId))!.state

  test('forgets the user once its time is over, once, and by an event that names the removal', async () => {
    removals.start()
    const userId = await removals.addHuman()
    await removeFor(userId, tomorrow())
    await removals.published(userId)
    await eraseDue(removals.users, new Date())
    expect(await keys(userId)).toBe(1)
    expect(await claimed(userId)).toBe(1)
    expect(await removals.rowOf(userId)).toMatchObject({ done: false })
    await Promise.all([eraseDue(removals.users, later), eraseDue(removals.users, later)])
    expect(await keys(userId)).toBe(0)
    expect(await stateOf(userId)).toEqual({ userName: '', removed: true })
    expect(await claimed(userId)).toBe(0)
    const ends = await removals.users.sql`
      select type, creator, cause = (select 'users-' || position from events where aggregate_id = ${userId} and type = 'removed') as caused
      from events where aggregate_id = ${userId} and type = 'forgotten'
    `
    expect(ends).toEqual([{ type: 'forgotten', creator: '', caused: true }])
    await removals.done(userId)
    expect(await removals.held(userId)).toEqual([`roster.events.users.acme.user.${userId}.forgotten`])
    await expect(restoreUser(removals.users, { userId }, callIn('acme'))).rejects.toThrow('no such user')
  })

  test('leaves no trace of the removal once it was undone, but that all sessions ended', async () => {
    const userId = await removals.addHuman()
    const before = { ...(await stateOf(userId)), signOuts: 1 }
    const found = () =>
      removals.users.sql`select * from found_users join found_addresses using (user_id) where user_id = ${userId}`
    const [row] = await found()
    await removeFor(userId, tomorrow())
    expect(await found()).toHaveLength(0)
    await restoreUser(removals.users, { userId }, callIn('acme'))
    expect(await stateOf(userId)).toEqual(before)
    expect(await found()).toEqual([row])
    expect(await removals.rowOf(userId)).toBeUndefined()
    await eraseDue(removals.users, later)
    expect(await stateOf(userId)).toEqual(before)
  })

  test.each([
    ['is lost', (userId: string) => removals.users.sql`delete from subject_keys where subject_id = ${userId}`],
    [
      'is broken',
      (userId: string) => removals.users.sql`update subject_keys set wrapped = '\\x00' where subject_id = ${userId}`,
    ],
  ])('forgets a user whose key %s, too, and hinders no other', async (_, happens) => {
    const [userId, other] = [await removals.addHuman(), await removals.addHuman()]
    for (const id of [userId, other]) await removeFor(id, tomorrow())
    await happens(userId)
    await eraseDue(removals.users, later)
    for (const id of [userId, other]) {
      expect(await keys(id)).toBe(0)
      expect(await claimed(id)).toBe(0)
      expect(await stateOf(id)).toEqual({ userName: '', removed: true })
    }
    expect(await removals.users.sql`select user_id from forgettings where forget_at <= ${later}`).toEqual([])
  })

  test('cannot be undone once its time is over, also before the user is erased', async () => {
    const userId = await removals.addHuman()
    await removeFor(userId, new Date(Date.now() - 1))
    await expect(restoreUser(removals.users, { userId }, callIn('acme'))).rejects.toThrow('no such user')
    expect(await keys(userId)).toBe(1)
    await eraseDue(removals.users, later)
  })

  test('is undone or carried out, never both', async () => {
    const userId = await removals.addHuman()
    await removeFor(userId, tomorrow())
    const [undone] = await Promise.allSettled([
      restoreUser(removals.users, { userId }, callIn('acme')),
      eraseDue(removals.users, later),
    ])
    expect(await stateOf(userId)).toMatchObject(undone.status === 'fulfilled' ? { human: {} } : { removed: true })
  })
})

test('PostgreSQL’s own samples of names and addresses are made anew after a removal', async () => {
  const [userId, other] = [await removals.addHuman(), await removals.addHuman()]
  const { sql, log } = removals.users
  const samples = async () =>
    JSON.stringify(
      await sql`
        select most_common_vals::text, histogram_bounds::text from pg_stats
        where schemaname = current_schema() and tablename in ('found_users', 'found_addresses')
      `,
    )
  await sql`analyze found_users, found_addresses`
  expect(await samples()).toContain(`${userId}@example.org`)
  await removals.remove(userId)
  removals.run(startErasureInStatistics({ sql, log, every: 50 }))
  await vi.waitFor(async () => expect(await samples()).not.toContain(userId), soon)
  expect(await samples()).toContain(other)
  await vi.waitFor(async () => {
    const [row] = await sql`select statistics_at is not null as done from forgettings where user_id = ${userId}`
    expect(row).toEqual({ done: true })
  }, soon)
})

test('a sample that PostgreSQL makes no more keeps a removal undone, until somebody lets it be made again', async () => {
  const userId = await removals.addHuman()
  const { sql, log } = removals.users
  await sql`analyze found_users`
  await sql`alter table found_users alter column exact set statistics 0`
  await removals.remove(userId)
  const failures: string[] = []
  const heard = { ...log, warn: (facts: { err: Error }) => failures.push(facts.err.message) } as never
  removals.run(startErasureInStatistics({ sql, log: heard, every: 50 }))
  const kept = 'PostgreSQL keeps old samples: the statistics target is 0 of found_users.exact'
  await vi.waitFor(() => expect(failures).toContain(kept), soon)
  const undone = () => sql`select from forgettings where user_id = ${userId} and statistics_at is null`
  expect(await undone()).toHaveLength(1)
  await sql`alter table found_users alter column exact set statistics -1`
  await vi.waitFor(async () => expect(await undone()).toHaveLength(0), soon)
})
