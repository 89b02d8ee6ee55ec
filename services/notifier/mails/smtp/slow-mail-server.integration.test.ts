import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { newAddress, openHouse, type TestHouse } from '../../testing/test-house.ts'

let house: TestHouse

beforeAll(async () => {
  house = await openHouse()
  await house.startUsers()
  await house.startNotifier({ MAIL_CONCURRENCY: '4' })
})
afterAll(() => house.stop())

const soon = { timeout: 30_000, interval: 20 }

const sent = (userId: string) =>
  vi.waitFor(async () => expect(await house.codeEvents(userId)).toEqual(['requested', 'sent']), soon)

test('a mail server that is slow for one domain delays no mails to others, and no webhooks', async () => {
  const calls: string[] = []
  const receiver = createServer((request, response) => {
    calls.push(request.url!)
    response.end()
  }).listen(0, '127.0.0.1')
  await house.webhooksAnswer()
  const { port } = receiver.address() as { port: number }
  await house.addWebhook({ url: `http://127.0.0.1:${port}/hook`, eventTypes: ['roster.user.human.added.v1'] })

  const opened = Promise.withResolvers<void>()
  const held = vi.fn(() => opened.promise)
  house.mail.beforeAccepting(async (address) => {
    if (address.endsWith('@slow.example')) await held()
  })
  const slow = await Promise.all(
    Array.from({ length: 30 }, (_, n) => house.addHuman({}, `${randomUUID()}@slow.example`, `org-${n % 3}`)),
  )
  await vi.waitFor(() => expect(held).toHaveBeenCalled(), soon)
  // Mails of the same organizations and of others, one after the other and all at once.
  const before = calls.length
  for (let n = 0; n < 5; n++) await sent((await house.addHuman({}, newAddress(), `org-${n}`)).userId)
  const many = await Promise.all(Array.from({ length: 30 }, () => house.addHuman({}, newAddress())))
  await Promise.all(many.map(({ userId }) => sent(userId)))
  await vi.waitFor(() => expect(calls.length).toBeGreaterThan(before), soon)
  expect(held.mock.calls.length).toBeLessThanOrEqual(2)
  for (const { userId } of slow) expect(await house.codeEvents(userId)).toEqual(['requested'])

  opened.resolve()
  await Promise.all(slow.map(({ userId }) => sent(userId)))
  for (const { email } of slow) expect(house.mail.mailsTo(email)).toHaveLength(1)
  receiver.close()
})
