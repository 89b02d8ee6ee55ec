import type { User as UserMessage } from '#gen/roster/users/v1/user'
import type { GetUserRequest, GetUserResponse } from '#gen/roster/users/v1/user_service'
import { details, type Existing } from '#lib/eventstore/aggregate'
import type { Context } from '../../context.ts'
import { existing, shownState } from '../../states/user-state.ts'
import type { User } from '../../vocabulary/user.ts'
import { userNotFound } from '../../vocabulary/user-not-found.ts'

export async function getUser({ store }: Context, { userId }: GetUserRequest): Promise<GetUserResponse> {
  const user = await store.load<User>('user', userId)
  if (!user) throw userNotFound()
  return { user: toMessage(user) }
}

function toMessage(aggregate: Existing<User>): UserMessage {
  const { userName, human, machine } = existing(aggregate.state)
  return {
    userId: aggregate.id,
    details: details(aggregate),
    state: shownState(aggregate.state),
    userName,
    organizationId: aggregate.organizationId,
    type: human
      ? {
          $case: 'human',
          value: { profile: human.profile, email: { email: human.email, isVerified: human.isVerified } },
        }
      : machine && { $case: 'machine', value: { ...machine, dpopRequired: machine.dpopRequired ?? false } },
  }
}
