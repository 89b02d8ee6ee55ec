import { randomUUID } from 'node:crypto'
import { Queue } from 'bullmq'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { startTestReceiver } from '#test/support/receiver'
import { mailQueueName } from './mails/queue/mail-queue.ts'
import { queuePrefix } from './redis.ts'
import { webhookQueueName } from './webhooks/webhook-queue.ts'
import { newAddress, openHouse, type TestHouse } from './testing/test-house.ts'

let house: TestHouse

beforeAll(async () => {
  house = await openHouse()
  await house.startUsers()
})
afterEach(() => house.stopNotifiers())
afterAll(() => house.stop())

const soon = { timeout: 20_000, interval: 20 }

test('forged jobs in Redis choose neither the address nor the text of a mail, and no dead code is mailed', async () => {
  const came: string[] = []
  house.mail.beforeAccepting((address) => {
    came.push(address)
    return Promise.resolve()
  })
  const unsent = async () => (await house.internal.listUnsentEmailCodes({ limit: 1 }, house.call())).codes[0]!.codeId
  const { userId } = await house.addHuman()
  const dead = await unsent()
  const current = newAddress()
  await house.setEmail(userId, current)
  const living = await unsent()

  const queue = new Queue(mailQueueName, { connection: house.redis, prefix: queuePrefix })
  const expiresAt = new Date(Date.now() + 600_000).toISOString()
  const evil = {
    email: 'evil@example.net',
    code: 'AAAAAA',
    url: 'https://evil.example',
    displayName: 'Evil',
    expiresAt,
  }
  const forged: unknown[] = [
    { userId, codeId: randomUUID(), ...evil },
    { userId, codeId: dead, ...evil },
    { userId, codeId: living, ...evil },
    { userId: 'no-one\r\nRCPT TO:<evil@example.net>', codeId: 'x', ...evil },
    { userId: ['a'], codeId: { b: 1 }, ...evil },
    { ...evil, __proto__: { admin: true } },
    JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
    'no object',
  ]
  for (const data of forged)
    await queue.add('forged', data, { attempts: 1, removeOnComplete: true, removeOnFail: true })
  await queue.close()
  await house.startNotifier()

  const { email: last } = await house.addHuman()
  await vi.waitFor(() => expect(came).toContain(last), soon)
  await vi.waitFor(async () => expect(await house.jobs()).toEqual([]), soon)
  expect(came.toSorted()).toEqual([current, last].toSorted())
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
})

test('the job of an announced mail has its kind, and there is none of an unknown kind', async () => {
  // A drill works on no job.
  await house.startNotifier({ ROSTER_DRILL: '1' })
  const mail = { userId: 'u', organizationId: 'default', expiresAt: new Date(Date.now() + 60_000).toISOString() }
  for (const kind of ['of-a-later-version', 'email-changed', undefined])
    house.announce({ ...mail, codeId: randomUUID(), ...(kind && { kind }) })
  const kinds = async () => (await house.jobs()).map((job) => (JSON.parse(job) as { kind: string }).kind)
  await vi.waitFor(async () => expect((await kinds()).toSorted()).toEqual(['email-changed', 'registration']), soon)
})

test('no forged job stops the webhooks of others', async () => {
  const receiver = await startTestReceiver()
  await house.startNotifier({ SWEEP_INTERVAL: '1' })
  await house.webhooksAnswer()
  const queue = new Queue(webhookQueueName, { connection: house.redis, prefix: queuePrefix })
  for (const webhookId of ['x\0y', '\ud800', 'x'.repeat(100_000), null, { a: 1 }, undefined])
    await queue.add('forged', { webhookId })
  await queue.add('forged', null)
  await vi.waitFor(async () => expect(await queue.getJobCountByTypes('wait', 'active', 'prioritized')).toBe(0), soon)
  await queue.close()
  await house.addWebhook({ url: receiver.url, eventTypes: ['user.human.added'] })
  const { userId } = await house.addHuman()
  await vi.waitFor(() => expect(receiver.received.map(({ event }) => event.subject)).toContain(`user/${userId}`), soon)
  await receiver.stop()
})
