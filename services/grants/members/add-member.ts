import type { ObjectDetails } from '#gen/roster/object/v1/object'
import { details } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import { v7 as uuid } from 'uuid'
import type { Context } from '../context.ts'
import { refuseRemoved, removalTombstone } from '../tombstones.ts'
import { addedMember } from './new-member.ts'
import { ownMemberships, permitByMemberships } from './own-roles.ts'
import { objectsOf, type Place, refuseForeign } from './place.ts'

/** A change of the roles that a user has at a place. */
export interface RolesOf {
  place: Place
  userId: string
  roles: string[]
  /** The permission that the caller needs there. */
  permission: string
}

/**
 * Gives a user roles. PERMISSION_DENIED, NOT_FOUND USER_NOT_FOUND, ALREADY_EXISTS MEMBER_EXISTS, or as
 * `refuseForeign`.
 */
export async function addMember(
  context: Context,
  { place, userId, roles, permission }: RolesOf,
  call: Call,
): Promise<{ details: ObjectDetails }> {
  await context.users.lookupUser({ userId }, call)
  const own = await ownMemberships(context, place, call)
  const objects = await objectsOf(context, place)
  return context.store.execute({
    aggregate: { type: 'member', id: uuid() },
    reads: { tombstone: removalTombstone(userId), own, ...objects },
    call,
    decide(_, _now, { tombstone, own, ...objects }) {
      permitByMemberships(own, permission, roles)
      refuseRemoved(tombstone)
      refuseForeign(roles, objects)
      const { organizationId, ...project } = place
      return addedMember(organizationId, { userId, ...project, roles })
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
