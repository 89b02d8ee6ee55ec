import { Webhook } from 'standardwebhooks'
import { callJson } from '../e2e/clients/json.ts'
import { type Received, startTestReceiver } from '../support/receiver.ts'
import type { Seen, Wrong } from './compare.ts'
import type { Reader } from './follow.ts'
import type { Called } from './running.ts'

/** A receiver that accepts every request. `seen` gives only the first delivery of each event. */
export interface WebhookReader extends Reader {
  /** The times of repeated deliveries, in milliseconds. */
  again: number[]
}

/** Adds a webhook for every event of the instance. Its receiver never fails. */
export async function startWebhook({ url, adminToken: token }: Called): Promise<WebhookReader> {
  const receiver = await startTestReceiver()
  const answer = await callJson('AddWebhook', { url: receiver.url, allOrganizations: true }, { url, token })
  if (answer.error) throw new Error(`AddWebhook: ${JSON.stringify(answer.error)}`)
  const webhook = new Webhook(answer.ok.secret)
  const seen = new Map<string, Seen>()
  const wrong: Wrong[] = []
  const again: number[] = []

  receiver.answer((request) => {
    take(request)
    // A long run has too many to keep.
    receiver.received.length = 0
    return 200
  })

  function take({ body, headers, event }: Omit<Received, 'status'>) {
    const { id, subject, sequence, requestId = '' } = event
    try {
      webhook.verify(body, headers as Record<string, string>)
    } catch (error) {
      return void wrong.push({ at: Date.now(), sentence: `${id} came to the webhook: ${(error as Error).message}` })
    }
    if (id !== headers['webhook-id'])
      wrong.push({ at: Date.now(), sentence: `${id} came to the webhook under another id` })
    if (seen.has(id)) return void again.push(Date.now())
    seen.set(id, { id, aggregate: subject.replace('/', ' '), sequence, requestId })
  }

  return {
    where: 'with the webhook’s receiver',
    seen: () => [...seen.values()],
    wrong,
    again,
    stop: () => receiver.stop(),
  }
}
