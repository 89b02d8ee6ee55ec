import type { RestoreUserRequest, RestoreUserResponse } from '#gen/roster/users/v1/user_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { isOpen } from '../../../../organization-status.ts'
import type { Context } from '../../../context.ts'
import { statuses } from '../../organizations/statuses.ts'
import { requireRolesCovered } from '../../may-act-on.ts'
import type { User, UserEvent } from '../../events/user.ts'
import { userNotFound } from '../../events/user-not-found.ts'

export async function restoreUser(
  context: Context,
  { userId }: RestoreUserRequest,
  call: Call,
): Promise<RestoreUserResponse> {
  const { store } = context
  await requireRolesCovered(context, userId, call)
  const known = await store.load<User>('user', userId)
  if (!known) throw userNotFound()
  return store.execute({
    aggregate: { type: 'user', id: userId },
    reads: { status: statuses.key(known.organizationId) },
    call,
    decide(user: Aggregate<User>, now, { status }) {
      const decision = restored(user, now)
      if (!isOpen(status))
        throw new RosterError('FAILED_PRECONDITION', 'ORGANIZATION_INACTIVE', 'The organization is not active.')
      return decision
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}

function restored({ state }: Aggregate<User>, now: Date): Decision<UserEvent> {
  if (!state) throw userNotFound()
  if (!state.removed) throw new RosterError('FAILED_PRECONDITION', 'USER_NOT_REMOVED', 'The user is not removed.')
  // The time may be over a little before the user is erased.
  if (!state.former || !(Date.parse(state.forgetAt!) > now.getTime())) throw userNotFound()
  return { events: [{ type: 'restored', payload: {} }], answer: undefined }
}
