import type { ObjectDetails } from '#gen/roster/object/v1/object'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { rolesCovered } from '../roles-covered.ts'
import { endsUse, existing, isActive } from './user-state.ts'
import type { User, UserEvent } from '../vocabulary/user.ts'

/**
 * Changes the state of a user by `decide`, which throws where the change is not allowed. First checks for
 * PERMISSION_DENIED, where the caller's roles do not cover the user's, and NOT_FOUND USER_NOT_FOUND. Afterwards
 * FAILED_PRECONDITION LAST_IAM_OWNER, where no active user with all permissions would be left.
 */
export async function changeState(
  context: Context,
  userId: string,
  call: Call,
  decide: (user: User, organizationId: string) => Decision<UserEvent>,
): Promise<{ details: ObjectDetails }> {
  const roles = await rolesCovered(context, userId, call)
  const isOwner = roles.includes(instance.administratorRole)
  const owners = isOwner ? (await context.grants.listInstanceOwners({}, call)).userIds : []
  return context.store.execute({
    aggregate: { type: 'user', id: userId },
    // The other owners stay unchanged until this is stored: of two owners removed at once, the second is then the last.
    reads: owners.filter((id) => id !== userId).map((id) => ({ type: 'user', id })),
    call,
    decide({ state, organizationId }: Aggregate<User>, _now, others: Aggregate<User>[]) {
      const decision = decide(existing(state), organizationId)
      const ends = decision.events.some(({ type }) => endsUse.has(type))
      if (isOwner && ends && !others.some((other) => isActive(other.state))) throw lastOwner()
      return decision
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}

function lastOwner() {
  return new RosterError('FAILED_PRECONDITION', 'LAST_IAM_OWNER', 'No other active user has all permissions.')
}
