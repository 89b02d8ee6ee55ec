import type { Sql } from '#lib/eventstore/database'
import type { Store } from '#lib/eventstore/store'
import type { Keyring } from '#lib/keys'
import type { Feeds } from './feeds/read-events.ts'
import type { Wakeups } from './feeds/wakeups.ts'
import type { Destinations } from './webhooks/destination.ts'

/** The tools of the operations. */
export interface Context {
  sql: Sql
  store: Store
  keys: Keyring
  /** The events of every service. */
  feeds: Feeds
  wakeups: Wakeups
  /** Decides where webhooks may lead. */
  destinations: Destinations
  /** How many webhooks an organization may have. */
  mostWebhooks: number
  /** Tells the worker that something is due to a webhook, so that it need not wait for the next sweep. */
  wake(webhookId: string): void
}
