import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { startTestReceiver } from '#test/support/receiver'
import { newAddress, openHouse, type TestHouse } from '../testing/test-house.ts'

let house: TestHouse

beforeAll(async () => {
  house = await openHouse()
  await house.startUsers()
})
afterAll(() => house.stop())

test('after a change of the encryption key, a webhook is sent with signatures as before', async () => {
  const hook = await startTestReceiver()
  onTestFinished(() => hook.stop())
  const start = async (more: Record<string, string>) => {
    await house.stopNotifiers()
    await house.startNotifier({ SWEEP_INTERVAL: '1', ...more })
    await house.webhooksAnswer()
  }
  const [old, current] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
  await start({ ROSTER_ENCRYPTION_KEY: old })
  const { webhookId, secret } = await house.addWebhook({ url: hook.url, eventTypes: ['user.email.changed'] })
  await start({ ROSTER_ENCRYPTION_KEY: `${current},${old}` })
  await start({ ROSTER_ENCRYPTION_KEY: current })
  const { userId } = await house.addHuman()
  await house.setEmail(userId, newAddress())
  const sent = async () => expect((await house.deliveries({ webhookId })).map(({ state }) => state)).toEqual(['sent'])
  await vi.waitFor(sent, { timeout: 10_000, interval: 100 })
  const { body, headers } = hook.received[0]!
  new Webhook(secret).verify(body, headers as Record<string, string>)
})
