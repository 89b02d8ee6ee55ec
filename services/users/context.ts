import { InternalServiceDefinition as GrantsInternal } from '#gen/roster/grants/v1/internal_service'
import type { Sql } from '#lib/eventstore/database'
import type { Store } from '#lib/eventstore/store'
import type { Keyring } from '#lib/keys'
import type { Log } from '#lib/log'
import type { Client } from '#lib/rpc/call'
import type { Config } from './config.ts'
import type { SigningKeys } from './oauth/signing-keys.ts'

/** Everything that operations work with. */
export interface Context {
  config: Config
  sql: Sql
  store: Store
  keys: Keyring
  signingKeys: SigningKeys
  grants: Client<'users', typeof GrantsInternal>
  log: Log
}
