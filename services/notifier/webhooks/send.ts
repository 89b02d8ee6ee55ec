import type { Store } from '#lib/eventstore/store'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Sql } from '#lib/database/database'
import type { Keyring } from '#lib/encryption/keys'
import type { Log } from '#lib/log'
import { anonymous } from '#lib/rpc/caller'
import type { Webhook, WebhookEvent } from '../vocabulary.ts'
import { webhookTries } from '../measures.ts'
import { restAfter, retryDelay } from './webhook-backoff.ts'
import { endChain, giveBack, isLate, settle, type Settled, type Taken } from './chain.ts'
import type { Destinations } from '#lib/outbound/destinations'
import { timeout } from '#lib/outbound/words-of-failure'
import { type Outcome, post } from './post.ts'
import type { WebhookQueue } from './webhook-queue.ts'
import { sign } from './secret.ts'
import { traceDelivery } from './trace-delivery.ts'

export interface SendOptions {
  sql: Sql
  store: Store
  keys: Keyring
  destinations: Destinations
  queue: WebhookQueue
  log: Log
  /** Milliseconds after which a delivery that no receiver took is given up. */
  retryFor: number
  /** Milliseconds that a receiver has to answer. */
  within: number
}

const gone = 410
/** Milliseconds. A receiver that takes longer is no longer quick, even if it answers well: it held a place. */
const quickWithin = 5000

/** The other chains of the same place. */
export interface Others {
  /** Whether none is left, asked by what frees the place then. */
  over(): boolean
  /** Gives back those that are left. */
  giveBack(): void
}

/** Sends the first delivery of a chain, records the outcome and gives the chain back. */
export async function send(options: SendOptions, taken: Taken, others: Others, signal: AbortSignal): Promise<void> {
  const { sql, keys, destinations, queue, log, within } = options
  if (taken.position === null) return endChain(sql, taken, others.over())
  // This process was asleep since it took the chain. Another worker may have the chain by now.
  if (isLate(taken)) return
  const { webhookId, eventId, url, payload, attempts } = taken
  const timestamp = Math.floor(taken.now.getTime() / 1000)
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Roster',
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': sign(keys, taken.secrets, eventId, timestamp, payload),
  }
  let outcome: Outcome
  const began = performance.now()
  try {
    outcome = await traceDelivery(taken, (traced) =>
      post(url, { ...headers, ...traced }, payload, destinations, signal, within),
    )
  } catch {
    return giveBack(sql, [taken], others.over())
  }
  const ids = { webhookId, eventId, attempts: attempts + 1 }
  const settled = judge(taken, outcome, performance.now() - began, options.retryFor)
  const { state, error, delay, rest = 0 } = settled
  webhookTries.add(1, state)
  // A webhook that is gone, rests or stopped being quick gets nothing more by this place.
  if (!settled.quick || outcome.status === gone) others.giveBack()
  await settle(sql, taken, settled, others.over())
  if (state === 'sent') return log.debug(ids, 'webhook sent')
  log.info({ ...ids, error, delay, rest }, state === 'failed' ? 'webhook given up' : 'webhook is tried again')
  if (delay > 0 || rest > 0) queue.wake(webhookId, Math.max(delay, rest))
  if (outcome.status === gone) await pause(options, webhookId, url)
}

function judge(taken: Taken, outcome: Outcome, took: number, retryFor: number): Settled {
  const { status, error, retryAfter: wished } = outcome
  const timedOut = error === timeout
  const quick = took < quickWithin && !timedOut
  if (error === undefined) return { state: 'sent', error: '', delay: 0, quick }
  const { attempts, timeouts, queuedAt } = taken
  // A timeout is the webhook's fault, not the delivery's: the whole webhook rests. The delivery waits no longer than
  // its webhook.
  const rest = timedOut ? restAfter(timeouts + 1) : undefined
  const now = taken.now.getTime() + took
  const wait = status === gone ? undefined : retryDelay({ attempts: attempts + 1, queuedAt, wished }, retryFor, now)
  const delay = wait === undefined ? undefined : Math.min(wait, rest ?? wait)
  return { state: delay === undefined ? 'failed' : 'queued', error, delay: delay ?? 0, quick, rest }
}

// Standard Webhooks: a receiver that answers 410 wants no more events.
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
