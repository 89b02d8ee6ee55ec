import { onTestFinished } from 'vitest'
import { call } from '../e2e/clients/encodings.ts'
import { startTestReceiver, type TestReceiver } from '../support/receiver.ts'
import { admin, ok } from './people.ts'

/** A receiver that stops at the end of its test. */
export async function receiver(): Promise<TestReceiver> {
  const made = await startTestReceiver()
  onTestFinished(() => made.stop())
  return made
}

/** A webhook that is removed at the end of its test, so that nothing is sent to a stopped receiver. */
export async function subscribe(organization: string, request: object) {
  const { webhookId, secret } = ok(await call('AddWebhook', { ...request }, admin(organization)))
  onTestFinished(async () => void (await call('RemoveWebhook', { webhookId }, admin(organization))))
  return { webhookId: webhookId as string, secret: secret as string }
}

/** The deliveries that an organization finds with this request. */
export async function deliveries(organization: string, request: object): Promise<any[]> {
  return ok(await call('SearchDeliveries', { ...request }, admin(organization))).deliveries ?? []
}
