import type { Sql } from '#lib/eventstore/database'
import type { Store } from '#lib/eventstore/store'
import type { Keyring } from '#lib/keys'
import type { Feeds } from './feeds/read-events.ts'
import type { Wakeups } from './feeds/wakeups.ts'
import type { Destinations } from './webhooks/destination.ts'

/** What the operations work with. */
export interface Context {
  sql: Sql
  store: Store
  keys: Keyring
  /** The events of every service. */
  feeds: Feeds
  wakeups: Wakeups
  /** Where webhooks may lead. */
  destinations: Destinations
  /** Webhooks that an organization may have. */
  mostWebhooks: number
  /** Says that something is to be sent to a webhook. To say so spares it the wait for the next sweep. */
  wake(webhookId: string): void
}
