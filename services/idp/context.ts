import type { InternalServiceDefinition as GrantsInternal } from '#gen/roster/grants/v1/internal_service'
import type { Sql } from '#lib/database/database'
import type { Store } from '#lib/eventstore/store'
import type { Keyring } from '#lib/encryption/keys'
import type { Destinations } from '#lib/outbound/destinations'
import type { Client } from '#lib/rpc/call'
import type { internalCalls } from '../internal-calls.ts'

/** Everything that operations work with. */
export interface Context {
  sql: Sql
  store: Store
  keys: Keyring
  /** Decides which addresses of providers Roster may call. */
  destinations: Destinations
  /** The origin that browsers know Roster by. */
  publicUrl: string
  grants: Client<typeof GrantsInternal, (typeof internalCalls.idp.grants)[number]>
}
