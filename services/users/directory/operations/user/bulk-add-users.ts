import type { LookupProviderResponse } from '#gen/roster/idp/v1/internal_service'
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
import type { NewLink } from '../../links/link.ts'
import { checkHuman, createHuman, linksOf } from './add-human-user.ts'
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
    const links = await linksOfAll(context, users, call)
    return context.store.executeAll<Added, BulkAddUsersResponse>({
      commands: users.map(({ user }, at) =>
        user!.$case === 'human'
          ? createHuman(context, user!.value, call, { vouch, mayInvite, links: links[at]! })
          : createMachine(user!.value, call),
      ),
      call,
      lane: call.organizationId,
      respond: (outcomes) => ({ results: bulkResults(outcomes, toDone) }),
    })
  },
}

/** The links of each user. Each provider is looked up once. */
async function linksOfAll(context: Context, users: BulkAddUsersRequest['users'], call: Call): Promise<NewLink[][]> {
  const known = new Map<string, LookupProviderResponse>()
  const all: NewLink[][] = []
  for (const [at, { user }] of users.entries()) {
    const place = { prefix: `users[${at}].human.`, known }
    all.push(user?.$case === 'human' ? await linksOf(context, user.value, call, place) : [])
  }
  return all
}

type Added = AddHumanUserResponse | AddMachineUserResponse

function toDone(added: Added): BulkDone {
  return { id: added.userId, details: added.details, emailCode: 'emailCode' in added ? added.emailCode : undefined }
}
