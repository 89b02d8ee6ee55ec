import type { Sql } from '#lib/eventstore/database'
import type { Store } from '#lib/eventstore/store'
import type { Keyring } from '#lib/keys'
import type { Log } from '#lib/log'
import type { Config } from './config.ts'

/** What the operations work with. */
export interface Context {
  config: Config
  sql: Sql
  store: Store
  keys: Keyring
  log: Log
}
