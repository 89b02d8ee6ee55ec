import type { AuditKey } from '#gen/roster/audit/v1/audit'
import type { Sql } from '#lib/database/database'
import type { Log } from '#lib/log'
import type { Store } from '#lib/eventstore/store'
import type { Keyring } from '#lib/encryption/keys'
import type { ServiceCall } from '#lib/rpc/call'
import type { CheckpointLists } from './audit/checkpoint-lists.ts'
import type { Config } from './config.ts'
import type { Feeds } from './feeds/read-events.ts'
import type { Wakeups } from './feeds/wakeups.ts'
import type { Destinations } from '#lib/outbound/destinations'

/** The tools of the operations. */
export interface Context {
  sql: Sql
  log: Log
  store: Store
  keys: Keyring
  /** The events of every service. */
  feeds: Feeds
  wakeups: Wakeups
  /** The checkpoints of every service. */
  checkpointLists: CheckpointLists
  /** The public keys of every service that sign checkpoints. */
  auditKeys(call: ServiceCall): Promise<AuditKey[]>
  /** Decides where webhooks may lead. */
  destinations: Destinations
  /** How mails are sent. */
  mailSettings: Config
  /** No mail may be sent. */
  isDrill: boolean
  /** How many webhooks an organization may have. */
  mostWebhooks: number
  /** Wakes the worker when something is due to a webhook, so that it need not wait for the next sweep. */
  wake(webhookId: string): void
}
