import type { BulkDone } from '#gen/roster/object/v1/bulk'
import type {
  AddHumanUserResponse,
  AddMachineUserResponse,
  BulkAddUsersRequest,
  BulkAddUsersResponse,
} from '#gen/roster/users/v1/user_service'
import { bulkResults } from '#lib/bulk-results'
import type { Violation } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { isBesideFormer } from '#lib/schema/releases'
import { vouching } from '../../login-names/vouching.ts'
import { checkHuman, createHuman } from './add-human-user.ts'
import { createMachine } from './add-machine-user.ts'

export const bulkAddUsers = {
  check: (context: Context, { users }: BulkAddUsersRequest): Violation[] =>
    users.flatMap(({ user }, index) =>
      user?.$case === 'human' ? checkHuman(context, user.value, `users[${index}].human.`) : [],
    ),

  async handle(context: Context, { users }: BulkAddUsersRequest, call: Call): Promise<BulkAddUsersResponse> {
    const verifications = users.map(({ user }) =>
      user?.$case === 'human' ? user.value.email?.verification : undefined,
    )
    const vouch = await vouching(context, call.organizationId, verifications, call)
    const mayInvite = !(await isBesideFormer(context.sql))
    return context.store.executeAll<Added, BulkAddUsersResponse>({
      commands: users.map(({ user }) =>
        user!.$case === 'human'
          ? createHuman(context, user!.value, call, { vouch, mayInvite })
          : createMachine(user!.value, call),
      ),
      call,
      lane: call.organizationId,
      respond: (outcomes) => ({ results: bulkResults(outcomes, toDone) }),
    })
  },
}

type Added = AddHumanUserResponse | AddMachineUserResponse

function toDone(added: Added): BulkDone {
  return { id: added.userId, details: added.details, emailCode: 'emailCode' in added ? added.emailCode : undefined }
}
