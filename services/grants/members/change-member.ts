import type { ObjectDetails } from '#gen/roster/object/v1/object'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { ReadBy } from '#lib/eventstore/reads'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { memberKey } from '../holdings.ts'
import type { Member, MemberEvent } from '../vocabulary/member.ts'
import type { RolesOf } from './add-member.ts'
import { ownMemberships, permitByMemberships } from './own-roles.ts'
import { type ObjectKeys, objectsOf, type Place, refuseForeign } from './place.ts'

/** Checks a change beside the decision, at its moment. */
export interface Guard {
  /** Throws where this member, as it is, may not be changed. */
  check?(member: Aggregate<Member>): void
  /** Stores the roles even if the member has them already. */
  again?: boolean
}

/**
 * Replaces a member's roles. PERMISSION_DENIED where the caller's do not cover those of before and afterwards,
 * NOT_FOUND MEMBER_NOT_FOUND, or as `refuseForeign`.
 */
export async function updateMember(
  context: Context,
  { place, userId, roles, permission }: RolesOf,
  call: Call,
  { check, again = false }: Guard = {},
): Promise<{ details: ObjectDetails }> {
  const objects = await objectsOf(context, place)
  return change(context, place, userId, call, objects, (member, { own, ...objects }) => {
    const state = existing(member)
    permitByMemberships(own, permission, [...state.roles, ...roles])
    refuseForeign(roles, objects)
    check?.(member)
    const isSame = state.roles.length === roles.length && state.roles.every((role) => roles.includes(role))
    return { events: isSame && !again ? [] : [{ type: 'changed', payload: { userId, roles } }], answer: undefined }
  })
}

/** Takes all roles of a member. PERMISSION_DENIED where the caller's do not cover them, NOT_FOUND MEMBER_NOT_FOUND. */
export async function removeMember(
  context: Context,
  { place, userId, permission }: Omit<RolesOf, 'roles'>,
  call: Call,
  { check }: Guard = {},
): Promise<{ details: ObjectDetails }> {
  return change(context, place, userId, call, {}, (member, { own }) => {
    const state = existing(member)
    permitByMemberships(own, permission, state.roles)
    check?.(member)
    return {
      releases: [memberKey(place.organizationId, state)],
      events: [{ type: 'removed', payload: { userId } }],
      answer: undefined,
    }
  })
}

/** The id of a membership. NOT_FOUND MEMBER_NOT_FOUND where the user has no role there. */
export async function findMember({ sql }: Context, place: Place, userId: string): Promise<string> {
  const { organizationId, ...project } = place
  const { kind, scope, key } = memberKey(organizationId, { userId, ...project })
  const [found] = await orUnavailable(sql<{ id: string }[]>`
    select aggregate_id as id from unique_keys where kind = ${kind} and scope = ${scope} and key = ${key}
  `)
  if (!found) throw memberNotFound()
  return found.id
}

async function change(
  context: Context,
  place: Place,
  userId: string,
  call: Call,
  objects: ObjectKeys,
  decide: (member: Aggregate<Member>, read: ReadBy<ObjectKeys> & { own: Aggregate<Member>[] }) => Decision<MemberEvent>,
): Promise<{ details: ObjectDetails }> {
  const id = await findMember(context, place, userId)
  const own = await ownMemberships(context, place, call)
  return context.store.execute({
    aggregate: { type: 'member', id },
    reads: { own, ...objects },
    call,
    decide: (member: Aggregate<Member>, _now, read) => decide(member, read),
    respond: ({ after }) => ({ details: details(after) }),
  })
}

function existing({ state }: Aggregate<Member>): Member {
  if (!state || state.removed) throw memberNotFound()
  return state
}

/** NOT_FOUND MEMBER_NOT_FOUND. */
export function memberNotFound(): RosterError {
  return new RosterError('NOT_FOUND', 'MEMBER_NOT_FOUND', 'The user has no role there.')
}
