import type { Store } from '#lib/eventstore/store'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Sql } from '#lib/eventstore/database'
import type { Keyring } from '#lib/keys'
import type { Log } from '#lib/log'
import { anonymous } from '#lib/rpc/caller'
import type { Webhook, WebhookEvent } from '../vocabulary.ts'
import { retryDelay } from './backoff.ts'
import { endChain, giveBack, isLate, settle, type Taken } from './chain.ts'
import type { Destinations } from './destination.ts'
import { type Outcome, post } from './post.ts'
import type { WebhookQueue } from './queue.ts'
import { sign } from './secret.ts'

export interface SendOptions {
  sql: Sql
  store: Store
  keys: Keyring
  destinations: Destinations
  queue: WebhookQueue
  log: Log
  /** Milliseconds after which what was not taken is given up. */
  retryFor: number
}

const gone = 410

/** Sends the head of a chain that was taken, records what became of it and gives the chain back. */
export async function send(options: SendOptions, taken: Taken, signal: AbortSignal): Promise<void> {
  const { sql, keys, destinations, queue, log, retryFor } = options
  if (taken.position === null) return endChain(sql, taken)
  // This process slept meanwhile.
  if (isLate(taken)) return
  const { webhookId, eventId, url, payload, attempts, queuedAt } = taken
  const timestamp = Math.floor(Date.now() / 1000)
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Roster',
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': sign(keys, taken.secrets, eventId, timestamp, payload),
  }
  let outcome: Outcome
  try {
    outcome = await post(url, headers, payload, destinations, signal)
  } catch {
    return giveBack(sql, taken)
  }
  const { status, error, retryAfter: wished } = outcome
  const ids = { webhookId, eventId, attempts: attempts + 1 }
  if (error === undefined) {
    await settle(sql, taken, { state: 'sent', error: '', delay: 0 })
    return log.debug(ids, 'webhook sent')
  }
  const delay = status === gone ? undefined : retryDelay({ attempts: attempts + 1, queuedAt, wished }, retryFor)
  await settle(sql, taken, { state: delay === undefined ? 'failed' : 'queued', error, delay: delay ?? 0 })
  log.info({ ...ids, error, delay }, delay === undefined ? 'webhook given up' : 'webhook is tried again')
  if (delay !== undefined) queue.wake(webhookId, delay)
  if (status === gone) await pause(options, webhookId, url)
}

// Standard Webhooks: whoever answers 410 wants nothing more.
async function pause({ store, log }: SendOptions, webhookId: string, url: string): Promise<void> {
  log.warn({ webhookId }, 'the receiver is gone: the webhook is paused')
  await store.execute({
    aggregate: { type: 'webhook', id: webhookId },
    call: { caller: anonymous, requestId: '', deadline: Date.now() + 10_000 },
    decide({ state }: Aggregate<Webhook>): Decision<WebhookEvent> {
      const events: WebhookEvent[] =
        state?.active && state.url === url ? [{ type: 'deactivated', payload: { cause: 'gone' } }] : []
      return { events, answer: undefined }
    },
  })
}
