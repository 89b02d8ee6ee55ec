import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { callJson } from './e2e/clients/json.ts'
import { type Metered, startMetered } from './metrics/metered.ts'
import { series } from './metrics/samples.ts'
import { startTestReceiver } from './support/receiver.ts'

let there: Metered

beforeAll(async () => {
  there = await startMetered(29_000, { MAIL_CONCURRENCY: '1' })
}, 120_000)
afterAll(() => there?.stop())
beforeEach(() => there.reset())

const add = (name: string, isVerified = false) => ({
  userName: name,
  profile: { firstName: 'A', lastName: 'B' },
  email: { email: `${name}@example.com`, ...(isVerified && { isVerified }) },
})

test('a bulk is one transaction of its items, and a single command one of its own', async () => {
  // Verified addresses: a mail of this test would be one too many in another.
  const users = ['a', 'b', 'c'].map((name) => ({ human: add(`bulk-${name}`, true) }))
  await there.act('BulkAddUsers', { users })
  await there.act('AddProject', { name: 'valued' })
  expect(await there.growth('users', 'roster_store_batch_size_count')).toMatchObject({
    [series({ roster_kind: 'bulk' })]: 1,
  })
  expect(await there.growth('users', 'roster_store_batch_size_sum')).toMatchObject({
    [series({ roster_kind: 'bulk' })]: 3,
  })
  for (const part of ['count', 'sum'])
    expect(await there.growth('grants', `roster_store_batch_size_${part}`)).toEqual({
      [series({ roster_kind: 'single' })]: 1,
    })
})

test('a caller is looked up once, and known from then on', async () => {
  const { userId } = await there.act('AddMachineUser', { userName: 'repeated', name: 'Repeated' })
  const { token } = await there.act('AddPersonalAccessToken', { userId, expirationDate: '2100-01-01T00:00:00Z' })
  await there.reset()
  for (let n = 0; n < 5; n++) await callJson('GetMyUser', {}, { ...there.caller, token })
  expect(await there.growth('gateway', 'roster_cache_lookups_total')).toEqual({
    [series({ roster_cache: 'callers', roster_outcome: 'miss' })]: 1,
    [series({ roster_cache: 'callers', roster_outcome: 'hit' })]: 4,
  })
})

test(
  'a mail that a worker has is under way, those behind it wait, and each is sent once',
  { timeout: 120_000 },
  async () => {
    // One reading: a job that goes on between two would be in both.
    const jobs = async () => {
      const { notifier } = await there.read()
      return ['waiting', 'active', 'delayed'].map((state) =>
        notifier.get(`roster_queue_jobs${series({ roster_queue: 'mails', roster_state: state })}`)!,
      )
    }
    const cable = there.running.cables['notifier↔smtp']
    cable.stall()
    const users = [...'abcdef'].map((name) => ({ human: add(`mailed-${name}`) }))
    await there.act('BulkAddUsers', { users })
    // Half of the places, or those that a slow domain has, are taken. The others wait for a worker, or rest.
    await vi.waitFor(
      async () => {
        const [waiting, active, delayed] = await jobs()
        expect(waiting! + active! + delayed!).toBe(6)
        expect(active).toBeGreaterThan(2)
      },
      { timeout: 60_000, interval: 200 },
    )
    cable.mend()
    const sent = series({ roster_outcome: 'sent' })
    await vi.waitFor(async () => expect(await there.growth('notifier', 'roster_mails_total')).toEqual({ [sent]: 6 }), {
      timeout: 30_000,
      interval: 200,
    })
    expect(await there.growth('notifier', 'roster_mail_duration_count')).toEqual({ '': 6 })
  },
)

test('the first event of a webhook has a place of those that are not quick, the next a quick one', async () => {
  const receiver = await startTestReceiver()
  let release = Promise.withResolvers<number>()
  receiver.answer(() => release.promise)
  const settings = { url: receiver.url, allOrganizations: true, eventTypes: ['project.added'] }
  const { webhookId } = await there.act('AddWebhook', settings)
  const lanes = async () => {
    const { notifier } = await there.read()
    return ['quick', 'slow'].map((lane) => notifier.get(`roster_webhook_under_way${series({ roster_lane: lane })}`))
  }
  const lanesAre = (wanted: number[]) =>
    vi.waitFor(async () => expect(await lanes()).toEqual(wanted), { timeout: 20_000, interval: 100 })
  const tries = (sent: number) =>
    vi.waitFor(
      async () =>
        expect(await there.growth('notifier', 'roster_webhook_tries_total')).toEqual({
          [series({ roster_outcome: 'sent' })]: sent,
        }),
      { timeout: 20_000, interval: 100 },
    )
  await there.act('AddProject', { name: 'first' })
  await lanesAre([0, 1])
  release.resolve(200)
  await tries(1)
  release = Promise.withResolvers()
  await there.act('AddProject', { name: 'second' })
  await lanesAre([1, 0])
  release.resolve(200)
  await tries(2)
  await there.act('RemoveWebhook', { webhookId })
  await receiver.stop()
})
