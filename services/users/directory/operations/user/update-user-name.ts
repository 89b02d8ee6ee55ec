import type { UpdateUserNameRequest, UpdateUserNameResponse } from '#gen/roster/users/v1/user_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { claimUserName, userNameKey } from '../../new-user.ts'
import { requireMayActOn } from '../../may-act-on.ts'
import { existing } from '../../states/user-state.ts'
import type { User, UserEvent } from '../../events/user.ts'

export const updateUserName = {
  permit: ({ userId }: UpdateUserNameRequest, call: Call, _holdsPermission: boolean, context: Context) =>
    requireMayActOn(context, userId, call),

  async handle(
    { store }: Context,
    { userId, userName }: UpdateUserNameRequest,
    call: Call,
  ): Promise<UpdateUserNameResponse> {
    return store.execute({
      aggregate: { type: 'user', id: userId },
      call,
      decide: (user: Aggregate<User>) => decide(user, userName),
      respond: ({ after }) => ({ details: details(after) }),
    })
  },
}

function decide({ state, organizationId }: Aggregate<User>, userName: string): Decision<UserEvent> {
  const before = existing(state).userName
  if (userName === before) return { events: [], answer: undefined }
  const [old, claim] = [userNameKey(organizationId, before), claimUserName(organizationId, userName)]
  return {
    // The same name in other letters stays taken by this user.
    ...(old.key !== claim.key && { releases: [old], claims: [claim] }),
    events: [{ type: 'username.changed', payload: { userName } }],
    answer: undefined,
  }
}
