import { randomUUID } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { type Received, startTestReceiver } from '../support/receiver.ts'
import { act } from './act.ts'
import type { Seen, Wrong } from './compare.ts'
import type { Reader } from './follow.ts'
import type { Called } from './running.ts'

/** A receiver that accepts every request with a right signature and time. `seen` gives only the first delivery of each event. */
export interface WebhookReader extends Reader {
  /** The times of repeated deliveries, in milliseconds. */
  again: number[]
}

/** Adds a webhook for every event of the instance. Its receiver never fails. */
export async function startWebhook(running: Called): Promise<WebhookReader> {
  const receiver = await startTestReceiver()
  const headers = { 'idempotency-key': randomUUID() }
  const { secret } = await act(running, 'AddWebhook', { url: receiver.url, allOrganizations: true }, { headers })
  const webhook = new Webhook(secret)
  const seen = new Map<string, Seen>()
  const wrong: Wrong[] = []
  const again: number[] = []

  receiver.answer((request) => {
    const taken = take(request)
    // A long run has too many to keep.
    receiver.received.length = 0
    return taken ? 200 : 400
  })

  function take({ body, headers, event }: Omit<Received, 'status'>): boolean {
    const { id, subject, sequence, requestId = '' } = event
    try {
      webhook.verify(body, headers as Record<string, string>)
    } catch (error) {
      wrong.push({ at: Date.now(), sentence: `${id} came to the webhook: ${(error as Error).message}` })
      return false
    }
    if (id !== headers['webhook-id'])
      wrong.push({ at: Date.now(), sentence: `${id} came to the webhook under another id` })
    if (seen.has(id)) again.push(Date.now())
    else seen.set(id, { id, aggregate: subject.replace('/', ' '), sequence, requestId })
    return true
  }

  return {
    where: 'with the webhook’s receiver',
    seen: () => [...seen.values()],
    wrong,
    again,
    stop: () => receiver.stop(),
  }
}
