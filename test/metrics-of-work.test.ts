import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { callJson } from './e2e/clients/json.ts'
import { basic } from './examples/oauth.ts'
import { newCode, openBrowser, redirectUri, verifier } from './examples/sign-in.ts'
import { type Metered, startMetered } from './metrics/metered.ts'
import { series } from './metrics/samples.ts'
import { startTestReceiver } from './support/receiver.ts'

let there: Metered

beforeAll(async () => {
  there = await startMetered(31_000, { MAIL_CONCURRENCY: '1' })
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

test('the end of a session waits for the application that is to be told, until it has no address any more', async () => {
  // Its PUBLIC_URL, which alone has pages.
  const url = there.running.url.replace('127.0.0.1', 'localhost')
  const { id: projectId } = await there.act('AddProject', { name: 'told' })
  const settings = {
    projectId,
    grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE'],
    redirectUris: [redirectUri],
    firstParty: true,
  }
  const named = { ...settings, name: 'told', backChannelLogoutUri: 'https://told.invalid/' }
  const application = await there.act('AddOIDCApplication', named)
  const person = { ...add('told', true), password: 'a password of work' }
  const { userId } = await there.act('AddHumanUser', person)
  const code = await newCode(person as never, application, {}, openBrowser(url))
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
  const redeemed = await fetch(`${url}/oauth/v2/token`, {
    method: 'POST',
    headers: basic(application.clientId, application.clientSecret),
    body: new URLSearchParams(form),
  })
  expect(redeemed.status).toBe(200)
  await there.act('DeleteUserSessions', { userId })
  const waiting = async () => {
    const { notifier } = await there.read()
    return ['waiting', 'waiting_age'].map((what) => notifier.get(`roster_logout_${what}`)!)
  }
  const tries = (outcome: string) =>
    there.growth('notifier', 'roster_logout_tries_total').then((all) => all[series({ roster_outcome: outcome })])
  const soon = { timeout: 30_000, interval: 100 }
  await vi.waitFor(
    async () => expect([await tries('queued'), await waiting()]).toEqual([expect.any(Number), [1, expect.any(Number)]]),
    soon,
  )
  await there.act('UpdateOIDCConfig', { ...settings, appId: application.appId })
  await vi.waitFor(async () => expect([await tries('failed'), await waiting()]).toEqual([1, [0, 0]]), soon)
})

test('a transaction that was left open in another database shows for how long, and one that was prepared', async () => {
  const server = there.running.servers.postgres!
  const url = new URL(there.running.servers.databaseUrl)
  url.pathname = '/postgres'
  const sql = postgres(url.href, { max: 1, onnotice: () => {} })
  onTestFinished(() => sql.end())
  await sql`alter system set max_prepared_transactions = 1`
  await server.restart()
  const ages = async () => {
    const { users } = await there.read()
    return ['oldest', 'prepared'].map((kind) => users.get(`roster_transactions_${kind}_age`)!)
  }
  const soon = { timeout: 30_000, interval: 100 }
  await vi.waitFor(() => sql`select 1`, soon)
  await sql.unsafe('begin; select pg_current_xact_id()')
  await vi.waitFor(async () => expect((await ages())[0]).toBeGreaterThan(3), soon)
  expect((await ages())[1]).toBe(0)
  await sql.unsafe("prepare transaction 'left'")
  await vi.waitFor(async () => expect((await ages())[1]).toBeGreaterThan(3), soon)
  expect((await ages())[0]).toBeGreaterThan(6)
  await sql.unsafe("rollback prepared 'left'")
  await vi.waitFor(async () => expect((await ages())[1]).toBe(0), soon)
  expect((await ages())[0]).toBeLessThan(3)
})
