import type {
  AddUserGrantResponse,
  BulkAddUserGrantsRequest,
  BulkAddUserGrantsResponse,
} from '#gen/roster/grants/v1/user_grant_service'
import { bulkResults } from '#lib/bulk-results'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { permitChosenId } from '../../chosen-id.ts'
import { findProjectGrants } from '../../projects/find-project-grant.ts'
import { userNotFound } from '../../holdings.ts'
import { createUserGrant } from './add-user-grant.ts'

export const bulkAddUserGrants = {
  permit({ userGrants }: BulkAddUserGrantsRequest, { caller }: Call): void {
    for (const { userGrantId } of userGrants) permitChosenId(caller, 'user.grant.write', userGrantId)
  },

  async handle(
    context: Context,
    { userGrants }: BulkAddUserGrantsRequest,
    call: Call,
  ): Promise<BulkAddUserGrantsResponse> {
    const [userIds, projectIds] = (['userId', 'projectId'] as const).map((name) => [
      ...new Set(userGrants.map((grant) => grant[name])),
    ])
    const [{ users }, grantIds] = await Promise.all([
      context.users.lookupUsers({ userIds: userIds! }, call),
      findProjectGrants(context, projectIds!, call.organizationId),
    ])
    const known = new Set(users.map(({ userId }) => userId))
    return context.store.executeAll<AddUserGrantResponse, BulkAddUserGrantsResponse>({
      commands: userGrants.map((request) => ({
        ...createUserGrant(context, request, call, grantIds.get(request.projectId)),
        ...(!known.has(request.userId) && { decide: refuseUnknown }),
      })),
      call,
      lane: call.organizationId,
      respond: (outcomes) => ({
        results: bulkResults(outcomes, ({ userGrantId, details }) => ({ id: userGrantId, details })),
      }),
    })
  },
}

function refuseUnknown(): never {
  throw userNotFound()
}
