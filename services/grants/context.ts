import type { InternalServiceDefinition as IdpInternal } from '#gen/roster/idp/v1/internal_service'
import type { InternalServiceDefinition as UsersInternal } from '#gen/roster/users/v1/internal_service'
import type { Sql } from '#lib/database/database'
import type { Store } from '#lib/eventstore/store'
import type { Client } from '#lib/rpc/call'
import type { Config } from './config.ts'
import type { internalCalls } from '../internal-calls.ts'

/** Everything that operations work with. */
export interface Context {
  config: Config
  sql: Sql
  store: Store
  idp: Client<typeof IdpInternal, (typeof internalCalls.grants.idp)[number]>
  users: Client<typeof UsersInternal, (typeof internalCalls.grants.users)[number]>
}
