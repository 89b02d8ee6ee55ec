import type { Sql } from '#lib/eventstore/database'
import type { Store } from '#lib/eventstore/store'
import type { Keyring } from '#lib/keys'
import type { Log } from '#lib/log'
import type { Config } from './config.ts'
import type { Feeds } from './feeds/read-events.ts'
import type { Wakeups } from './feeds/wakeups.ts'

/** What the operations work with. */
export interface Context {
  config: Config
  sql: Sql
  store: Store
  keys: Keyring
  log: Log
  /** The events of every service. */
  feeds: Feeds
  wakeups: Wakeups
}
