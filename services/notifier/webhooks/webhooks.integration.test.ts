import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Received, startTestReceiver, type TestReceiver } from '#test/support/receiver'
import { newAddress, openHouse, type TestHouse } from '../testing/test-house.ts'

let house: TestHouse

beforeAll(async () => {
  house = await openHouse()
  await house.startUsers()
})
afterEach(() => house.stopNotifiers())
afterAll(() => house.stop())

const soon = { timeout: 40_000, interval: 50 }
const quick = { SWEEP_INTERVAL: '1' }

async function start(more: Record<string, string> = {}, replicas = 1) {
  for (let n = 0; n < replicas; n++) await house.startNotifier({ ...quick, ...more })
  await house.webhooksAnswer()
}

async function receiver(): Promise<TestReceiver> {
  const made = await startTestReceiver()
  onTestFinished(() => made.stop())
  return made
}

/** Adds a webhook for changes of addresses. */
async function subscribe(url: string) {
  const { webhookId, secret } = await house.addWebhook({ url, eventTypes: ['user.email.changed'] })
  return { webhookId, verifier: new Webhook(secret) }
}

/** Changes the address of each human so many times. Returns the addresses by user, in their order. */
async function change(humans: { userId: string }[], times: number) {
  const changes = new Map(humans.map(({ userId }) => [userId, [] as string[]]))
  await Promise.all(
    humans.map(async ({ userId }) => {
      for (let n = 0; n < times; n++) {
        const email = newAddress()
        await house.setEmail(userId, email)
        changes.get(userId)!.push(email)
      }
    }),
  )
  return changes
}

const emails = (received: Received[], userId: string) =>
  received.filter(({ event }) => event.subject === `user/${userId}`).map(({ event }) => event.data.email as string)

// At least once, and in order: a repeated event came before all later events.
function inOrder(received: Received[], changes: Map<string, string[]>) {
  for (const [userId, expected] of changes) expect([...new Set(emails(received, userId))]).toEqual(expected)
}

async function settled(webhookId: string, state: string, count: number) {
  await vi.waitFor(async () => {
    const deliveries = await house.deliveries({ webhookId })
    expect(deliveries.map((delivery) => delivery.state)).toEqual(Array.from({ length: count }, () => state))
  }, soon)
  return house.deliveries({ webhookId })
}

describe('an event reaches a webhook', () => {
  it('signed, once, with the same id and body on each try, and in order per user although tries fail', async () => {
    await start({}, 2)
    const [hook, humans] = [await receiver(), await Promise.all([house.addHuman(), house.addHuman(), house.addHuman()])]
    // The first try of every third event fails, and also the second try of the very first event.
    const tries = new Map<unknown, number>()
    hook.answer(({ headers: { 'webhook-id': id } }) => {
      const [number, earlier] = [tries.has(id) ? [...tries.keys()].indexOf(id) : tries.size, tries.get(id) ?? 0]
      tries.set(id, earlier + 1)
      return earlier < (number === 0 ? 2 : number % 3 === 0 ? 1 : 0) ? 503 : 200
    })
    const { webhookId, verifier } = await subscribe(hook.url)
    const changes = await change(humans, 6)
    const deliveries = await settled(webhookId, 'sent', 18)
    inOrder(hook.taken(), changes)
    inOrder(hook.received, changes)
    expect(hook.taken()).toHaveLength(18)
    expect(hook.received).toHaveLength(18 + 7)
    const byId = Map.groupBy(hook.received, ({ headers }) => headers['webhook-id'])
    expect(new Set(byId.keys())).toEqual(new Set(deliveries.map(({ eventId }) => eventId)))
    for (const tries of byId.values()) expect(new Set(tries.map(({ body }) => body)).size).toBe(1)
    for (const { body, headers } of hook.received) verifier.verify(body, headers as Record<string, string>)
  })

  it('although it comes at the moment at which the event before was done', async () => {
    await start({ SWEEP_INTERVAL: '3600' }, 2)
    const [hook, humans] = [await receiver(), await Promise.all(Array.from({ length: 12 }, () => house.addHuman()))]
    const { webhookId } = await subscribe(hook.url)
    const changes = await change(humans, 20)
    await settled(webhookId, 'sent', 240)
    inOrder(hook.received, changes)
    expect(hook.received).toHaveLength(240)
  })

  it('although Redis is emptied again and again', async () => {
    await start()
    const [hook, human] = [await receiver(), await house.addHuman()]
    hook.answer(() => (hook.received.length % 2 === 0 ? 500 : 200))
    const { webhookId } = await subscribe(hook.url)
    const emptying = setInterval(() => void house.redis.flushall(), 100)
    const changes = await change([human], 3)
    await settled(webhookId, 'sent', 3).finally(() => clearInterval(emptying))
    inOrder(hook.received, changes)
  })

  it('although the stream of events is lost before the notifier saw it', async () => {
    await start()
    const [hook, human] = [await receiver(), await house.addHuman()]
    const { webhookId } = await subscribe(hook.url)
    await house.stopNotifiers()
    const changes = await change([human], 2)
    await house.deleteStream()
    await start()
    await settled(webhookId, 'sent', 2)
    inOrder(hook.received, changes)
  })

  it('although the notifier is killed before the receiver answers, and then perhaps twice', async () => {
    let child: ChildProcess | undefined
    const startProcess = () => {
      // Another notifier takes over what hangs after this time and fifteen seconds.
      const env = { ...process.env, ...house.notifierEnvironment, ...quick, WEBHOOK_TIMEOUT: '1' }
      child = spawn(process.execPath, ['services/notifier/main.ts'], { env, stdio: 'ignore' })
      return child
    }
    onTestFinished(() => void child?.kill('SIGKILL'))
    const killed = startProcess()
    await house.webhooksAnswer()
    const [hook, human] = [await receiver(), await house.addHuman()]
    const { webhookId } = await subscribe(hook.url)
    hook.answer(() => {
      killed.kill('SIGKILL')
      return 200
    })
    const [changes] = await Promise.all([change([human], 3), once(killed, 'exit')])
    startProcess()
    await house.webhooksAnswer()
    await vi.waitFor(() => expect(emails(hook.taken(), human.userId)).toContain(changes.get(human.userId)!.at(-1)), {
      ...soon,
      timeout: 55_000,
    })
    inOrder(hook.received, changes)
    await settled(webhookId, 'sent', 3)
  })

  it('while its receiver takes its time for another object, however many wait', async () => {
    await start()
    const [hook, humans] = [await receiver(), await Promise.all(Array.from({ length: 60 }, () => house.addHuman()))]
    const { webhookId } = await subscribe(hook.url)
    await house.ledger`update webhooks set active = false, quick = true where webhook_id = ${webhookId}`
    // So many that a place takes several at once when it comes to the slow one.
    for (const human of humans) await change([human], 1)
    const slow = `user/${humans[40]!.userId}`
    const { promise: others, resolve } = Promise.withResolvers<void>()
    hook.answer(({ event }) => {
      if (event.subject === slow) return others.then(() => 200)
      if (hook.received.length === 58) resolve()
      return 200
    })
    await vi.waitFor(async () => expect(await house.deliveries({ webhookId })).toHaveLength(60), soon)
    await house.ledger`update webhooks set active = true where webhook_id = ${webhookId}`
    await settled(webhookId, 'sent', 60)
    expect(hook.received).toHaveLength(60)
    await vi.waitFor(async () => expect(await house.ledger`select from places`).toHaveLength(0), soon)
  })

  it('while another webhook is slow', async () => {
    await start()
    const [slow, quickOne, human] = [await receiver(), await receiver(), await house.addHuman()]
    const { promise: over, resolve } = Promise.withResolvers<void>()
    slow.answer(() => over.then(() => 200))
    const { webhookId } = await subscribe(slow.url)
    await subscribe(quickOne.url)
    const humans = [human, ...(await Promise.all(Array.from({ length: 9 }, () => house.addHuman())))]
    await change(humans, 2)
    await vi.waitFor(() => expect(quickOne.received).toHaveLength(20), soon)
    expect(slow.received).toHaveLength(0)
    resolve()
    await settled(webhookId, 'sent', 20)
  })
})

describe('an event that a webhook does not take', () => {
  it('is given up after its time, with the reason; the next ones follow, and a replay sends it again', async () => {
    await start()
    const [hook, human] = [await receiver(), await house.addHuman()]
    hook.answer(() => 500)
    const { webhookId } = await subscribe(hook.url)
    const changes = await change([human], 2)
    await vi.waitFor(() => expect(hook.received.length).toBeGreaterThan(1), soon)
    // As long as it is tried.
    await house.shiftClock('1 day')
    const failed = await settled(webhookId, 'failed', 2)
    for (const { error, attempts } of failed) {
      expect(error).toBe('status 500')
      expect(attempts).toBeGreaterThan(0)
    }
    expect(failed[0]!.attempts).toBeGreaterThan(1)
    hook.answer(() => 200)
    await house.replayFailed(webhookId)
    await settled(webhookId, 'sent', 2)
    expect(emails(hook.taken(), human.userId)).toEqual(changes.get(human.userId))
  })

  it('waits as long as its receiver asks', async () => {
    await start()
    const [hook, human] = [await receiver(), await house.addHuman()]
    hook.answer(() => (hook.received.length === 0 ? { status: 429, headers: { 'retry-after': '3' } } : 200))
    const { webhookId } = await subscribe(hook.url)
    await change([human], 1)
    await vi.waitFor(() => expect(hook.received).toHaveLength(1), soon)
    const at = Date.now()
    await settled(webhookId, 'sent', 1)
    expect(Date.now() - at).toBeGreaterThan(2500)
  })
})

describe('nothing is sent', () => {
  it('to a forbidden address that a name leads to', async () => {
    await start({ WEBHOOK_ALLOW_PRIVATE: '10.0.0.0/8', WEBHOOK_RETRY_FOR: '1' })
    const [hook, human] = [await receiver(), await house.addHuman()]
    // The name of this machine leads to the machine itself. AddWebhook would refuse `localhost`.
    const { webhookId } = await subscribe(hook.url.replace('127.0.0.1', 'localhost.localdomain'))
    await change([human], 1)
    const [delivery] = await settled(webhookId, 'failed', 1)
    expect(delivery!.error).toBe('no address that may be sent to')
    expect(hook.received).toEqual([])
  })
})
