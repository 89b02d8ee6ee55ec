import type { Aggregate, AggregateKey } from '#lib/eventstore/aggregate'
import { orUnavailable } from '#lib/database/database'
import { instance } from '#lib/instance'
import { permissionDenied } from '#lib/rpc/authorize'
import { rolesIn } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { coversRole, grantsPermission } from '#lib/rpc/roles'
import type { Context } from '../context.ts'
import { memberKey } from '../holdings.ts'
import { keyKinds } from '../vocabulary/key-kinds.ts'
import { keyOfMember, type Member } from '../vocabulary/member.ts'
import type { Place } from './place.ts'

/** PERMISSION_DENIED unless the caller's roles at the place cover these, by what the gateway knows of the caller. */
export function permitRoles(place: Place, roles: string[], { caller }: Call): void {
  const held = rolesIn(caller, place.organizationId, place.projectId)
  if (!roles.every((role) => coversRole(held, role))) throw permissionDenied()
}

/** The caller's own memberships whose roles count at a place. A decision about roles reads them. */
export async function ownMemberships(
  { sql }: Context,
  place: Place,
  { caller }: Call,
): Promise<AggregateKey<Member>[]> {
  const { organizationId } = place
  const keys = [{ organizationId: instance.id }, { organizationId }, place].map(({ organizationId, ...project }) =>
    memberKey(organizationId, { userId: caller.userId, ...project }),
  )
  const rows = await orUnavailable(sql<{ id: string }[]>`
    select aggregate_id as id from unique_keys
    where kind = ${keyKinds.member} and (scope, key) in (
      select * from unnest(${keys.map(({ scope }) => scope)}::text[], ${keys.map(({ key }) => key)}::text[])
    )
  `)
  return rows.map(({ id }) => keyOfMember(id))
}

/**
 * PERMISSION_DENIED unless the caller's memberships, as they are when the decision is stored, give the permission and
 * cover the roles. So a caller who loses a role at the same moment gives nothing and takes nothing.
 */
export function permitByMemberships(memberships: Aggregate<Member>[], permission: string, roles: string[]): void {
  const held = memberships.flatMap(({ state }) => (state && !state.removed ? state.roles : []))
  if (!grantsPermission(held, permission) || !roles.every((role) => coversRole(held, role))) throw permissionDenied()
}
