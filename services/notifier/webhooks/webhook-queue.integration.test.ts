import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { startTestReceiver, type TestReceiver } from '#test/support/receiver'
import { newAddress, openHouse, type TestHouse } from '../testing/test-house.ts'

let house: TestHouse
let organizations = 0
const ends: (() => unknown)[] = []

beforeAll(async () => {
  house = await openHouse()
  await house.startUsers()
})
afterEach(async () => {
  // First the receivers: a notifier that stops waits for tries under way.
  await Promise.all(ends.splice(0).map((end) => end()))
  await house.stopNotifiers()
  await house.ledger`delete from webhooks`
})
afterAll(() => house.stop())

const soon = { timeout: 40_000, interval: 20 }
const newOrganization = () => `organization-${++organizations}`

/** A server that takes connections and never answers. */
async function startSilent() {
  const open = new Set<Socket>()
  let closed = 0
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {}).on('close', () => void (open.delete(socket), closed++))
    socket.resume()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    /** Tries under way. */
    open: () => open.size,
    /** Tries that have ended. */
    closed: () => closed,
  }
}

async function receiver() {
  const made = await startTestReceiver()
  ends.push(() => made.stop())
  return made
}

async function start(more: Record<string, string> = {}, replicas = 1) {
  for (let n = 0; n < replicas; n++) await house.startNotifier({ SWEEP_INTERVAL: '1', WEBHOOK_TIMEOUT: '60', ...more })
  await house.webhooksAnswer()
}

const subscribe = (url: string, organization: string) =>
  house.addWebhook({ url, eventTypes: ['user.human.added'] }, organization)
const addHumans = (organization: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => house.addHuman({}, newAddress(), organization)))

/** Adds webhooks whose receiver hangs to an organization, and events for all of them. */
async function attack(url: string, organization: string, webhooks: number, humans: number) {
  for (let n = 0; n < webhooks; n++) await subscribe(url, organization)
  await addHumans(organization, humans)
}

/** Checks that another organization's changes reach its receiver before any hanging try has ended. */
async function passes(hook: TestReceiver, organization: string, silent: { closed(): number }) {
  const before = hook.taken().length
  await addHumans(organization, 50)
  await vi.waitFor(() => expect(hook.taken().length - before).toBe(50), soon)
  expect(silent.closed()).toBe(0)
}

test.each([1, 2])('99 webhooks that hang hold up no other organization, with %i notifiers', async (replicas) => {
  await start({}, replicas)
  const [silent, hook, organization] = [await startSilent(), await receiver(), newOrganization()]
  await attack(silent.url, newOrganization(), 99, 10)
  await vi.waitFor(() => expect(silent.open()).toBeGreaterThan(0), soon)
  await subscribe(hook.url, organization)
  await passes(hook, organization, silent)
  expect(silent.open()).toBe(2)
})

test('hanging webhooks of twenty organizations hold up no other organization', async () => {
  await start()
  const [silent, hook, organization] = [await startSilent(), await receiver(), newOrganization()]
  await Promise.all(Array.from({ length: 20 }, () => attack(silent.url, newOrganization(), 10, 10)))
  await vi.waitFor(() => expect(silent.open()).toBeGreaterThanOrEqual(40), soon)
  await subscribe(hook.url, organization)
  await passes(hook, organization, silent)
})

test('webhooks that suddenly hang hold up no other organization; their own has one place for a while', async () => {
  await start({ WEBHOOK_TIMEOUT: '25' })
  const [hook, hostile, organization] = [await receiver(), newOrganization(), newOrganization()]
  const trap = await receiver()
  for (let n = 0; n < 10; n++) await subscribe(trap.url, hostile)
  await addHumans(hostile, 5)
  await vi.waitFor(() => expect(trap.taken()).toHaveLength(50), soon)
  let hanging = 0
  trap.answer(() => {
    hanging++
    return new Promise(() => {})
  })
  await addHumans(hostile, 20)
  await vi.waitFor(() => expect(hanging).toBe(16), soon)
  await subscribe(hook.url, organization)
  await passes(hook, organization, { closed: () => hanging - 16 })
  // Of the ten webhooks, some were not tried yet, so they still count as quick.
  await vi.waitFor(() => expect(hanging).toBeGreaterThan(16), soon)
  const [{ most }] = await house.ledger<[{ most: number }]>`
    select count(*)::int as most from places where organization_id = ${hostile} and not slow
  `
  expect(most).toBeLessThanOrEqual(1)
})

test('an organization gets no more places by new webhooks or new addresses while its tries hang', async () => {
  await start()
  const [silent, hook, organization, hostile] = [
    await startSilent(),
    await receiver(),
    newOrganization(),
    newOrganization(),
  ]
  for (let n = 0; n < 20; n++) {
    const { webhookId } = await subscribe(silent.url, hostile)
    await addHumans(hostile, 1)
    if (n > 0) await house.removeWebhook(webhookId, hostile)
  }
  await subscribe(hook.url, organization)
  await passes(hook, organization, silent)
  expect(silent.open()).toBeLessThanOrEqual(2)
})

test('an organization cannot exceed its limit of webhooks, not even by calls at once to two notifiers', async () => {
  await start({ WEBHOOKS_PER_ORGANIZATION: '5' }, 2)
  const organization = newOrganization()
  const add = () => subscribe('http://127.0.0.1:1/', organization)
  const answers = await Promise.allSettled(Array.from({ length: 60 }, add))
  const refusals = answers.filter((answer) => answer.status === 'rejected').map(({ reason }) => reason)
  expect(refusals).toHaveLength(55)
  for (const refusal of refusals)
    expect(refusal).toMatchObject({
      reason: 'LIMIT_REACHED',
      metadata: { limit: 'organization.webhooks', most: '5' },
    })
  expect(await house.ledger`select from webhooks where organization_id = ${organization}`).toHaveLength(5)
  await subscribe('http://127.0.0.1:1/', newOrganization())
})

test('a backlog of 100,000 deliveries of one organization holds up no other', async () => {
  await start()
  const [busy, hook, hostile, organization] = [await receiver(), await receiver(), newOrganization(), newOrganization()]
  const { webhookId } = await subscribe(busy.url, hostile)
  await subscribe(hook.url, organization)
  await house.ledger`
    insert into deliveries (id, kind, state, organization_id, event_id, event_type, user_id, aggregate, webhook_id,
      payload, queued_at, created_at, changed_at)
    select 'backlog-' || n, 'webhook', 'queued', ${hostile}, 'backlog-' || n, 't', '', 'user/' || n,
      ${webhookId}, '{}', now(), now(), now()
    from generate_series(1, 100000) n
  `
  await house.ledger`
    insert into chains
    select webhook_id, aggregate, now() - interval '1 hour' from deliveries where webhook_id = ${webhookId}
  `
  await vi.waitFor(() => expect(busy.taken().length).toBeGreaterThan(10), soon)
  await passes(hook, organization, { closed: () => 0 })
  expect(busy.taken().length).toBeLessThan(50_000)
})

test('a silent webhook rests as a whole, and gets everything in order once it answers', async () => {
  await start({ WEBHOOK_TIMEOUT: '1' })
  const [hook, organization] = [await receiver(), newOrganization()]
  let tries = 0
  let most = 0
  let underWay = 0
  hook.answer(async () => {
    tries++
    most = Math.max(most, ++underWay)
    await new Promise((resolve) => setTimeout(resolve, 1500))
    underWay--
    return 500
  })
  const { webhookId } = await house.addWebhook({ url: hook.url, eventTypes: ['user.*'] }, organization)
  const humans = await addHumans(organization, 10)
  await vi.waitFor(() => expect(tries).toBeGreaterThanOrEqual(2), soon)
  const [{ tried }] = await vi.waitFor(async () => {
    const found = await house.ledger<[{ waits: number; tried: number }]>`
      select count(*)::int as waits, count(*) filter (where attempts > 0)::int as tried
      from deliveries where webhook_id = ${webhookId} and state = 'queued'
    `
    expect(found[0].waits).toBe(30)
    return found
  }, soon)
  expect(tried).toBeLessThanOrEqual(2)
  hook.answer(() => 200)
  // On request, the next try does not wait for the end of the rest.
  await house.replayFailed(webhookId, organization)
  await vi.waitFor(() => expect(new Set(hook.taken().map(({ event }) => event.id)).size).toBe(30), soon)
  expect(most).toBeLessThanOrEqual(2)
  for (const { userId } of humans) {
    const sequencesOf = (subject: string) =>
      new Set(
        hook
          .taken()
          .filter(({ event }) => event.subject === subject)
          .map(({ event }) => event.sequence),
      )
    expect([...sequencesOf(`user/${userId}`)]).toEqual([1, 2])
    expect([...sequencesOf(`user.email.code/${userId}`)]).toEqual([1])
  }
})
