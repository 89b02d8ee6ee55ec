import type { ObjectDetails } from '#gen/roster/object/v1/object'
import { RosterError } from '#lib/errors'
import { type Aggregate, details, type Existing } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { requireRolesCovered } from '../may-act-on.ts'
import { findOthers, type Owners, ownershipOf } from './instance-owners.ts'
import { findCoOwners } from './organization-owners.ts'
import { endsUse, existing } from './user-state.ts'
import type { User, UserEvent } from '../events/user.ts'

/**
 * Changes the state of a user by `decide`, which throws where the change is not allowed. First checks for
 * PERMISSION_DENIED, where the caller's roles do not cover the user's, and NOT_FOUND USER_NOT_FOUND. Afterwards
 * FAILED_PRECONDITION LAST_IAM_OWNER, where no active user with all permissions would be left, and ABORTED CONFLICT,
 * where the user gets or loses this role at the same moment. Who removes themselves gets FAILED_PRECONDITION LAST_ORG_OWNER,
 * where an organization would have no active owner any more. `more`: what the answer has beside the details.
 * `find`: returns the user or throws USER_NOT_FOUND. `unreadable`: the change of a user whose state no key
 * decrypts; without it, the call fails.
 */
export async function changeState<More = unknown>(
  context: Context,
  userId: string,
  call: Call,
  decide: (user: User, organizationId: string, now: Date) => Decision<UserEvent>,
  more?: (after: Existing<User>) => More,
  find = existing,
  unreadable?: () => Decision<UserEvent>,
): Promise<{ details: ObjectDetails } & More> {
  const { store } = context
  const ended: Owners = { $case: 'userId', value: userId }
  const ownership = ownershipOf(ended)
  // Before the roles: whatever makes the user an owner after this look changes it.
  const known = await store.load(ownership.type, ownership.id)
  const roles = await requireRolesCovered(context, userId, call)
  const isOwner = roles.includes(instance.administratorRole)
  const others =
    isOwner && (await findOthers(store, (await context.grants.listInstanceOwners({}, call)).userIds, ended))
  const coOwners = call.caller.userId === userId ? await findCoOwners(context, userId, call) : undefined
  return store.execute({
    aggregate: { type: 'user', id: userId },
    // The other owners stay unchanged until this is stored: of two owners removed at once, the second is then the last.
    reads: { ownership, ...(others && others.reads), ...coOwners?.reads },
    call,
    ...(unreadable && { evenUnreadable: true }),
    decide({ state, organizationId, ...user }: Aggregate<User>, now, { ownership: current, ...read }) {
      const decision = unreadable && user.unreadable ? unreadable() : decide(find(state), organizationId, now)
      if (!decision.events.some(({ type }) => endsUse.has(type))) return decision
      if (current.sequence !== (known?.sequence ?? 0))
        throw new RosterError('ABORTED', 'CONFLICT', 'The roles of the user were changed at the same time.')
      if (others) others.refuseNone(read)
      if (decision.events.some(({ type }) => type === 'removed')) coOwners?.refuseNone(read)
      return decision
    },
    respond: ({ after }) => ({ details: details(after), ...(more?.(after as Existing<User>) as More) }),
  })
}
