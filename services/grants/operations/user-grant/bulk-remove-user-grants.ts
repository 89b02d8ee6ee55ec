import type {
  BulkRemoveUserGrantsRequest,
  BulkRemoveUserGrantsResponse,
} from '#gen/roster/grants/v1/user_grant_service'
import type { BulkDone } from '#gen/roster/object/v1/bulk'
import { bulkResults } from '#lib/bulk-results'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { UserGrant } from '../../vocabulary/user-grant.ts'
import { takeUserGrant } from './remove-user-grant.ts'

export async function bulkRemoveUserGrants(
  { store }: Context,
  { grantIds }: BulkRemoveUserGrantsRequest,
  call: Call,
): Promise<BulkRemoveUserGrantsResponse> {
  return store.executeAll<BulkDone, BulkRemoveUserGrantsResponse>({
    commands: grantIds.map((id) => ({
      aggregate: { type: 'user_grant', id },
      decide: (grant: Aggregate<UserGrant>) => takeUserGrant(grant, grant.state?.userId ?? '', call.organizationId),
      respond: ({ after }) => ({ id, details: details(after) }),
    })),
    call,
    lane: call.organizationId,
    respond: (outcomes) => ({ results: bulkResults(outcomes, (done) => done) }),
  })
}
