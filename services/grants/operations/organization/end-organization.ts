import type { ObjectDetails } from '#gen/roster/object/v1/object'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { orUnavailable } from '#lib/database/database'
import { instance } from '#lib/instance'
import { rolesIn } from '#lib/rpc/caller'
import { callerIn } from '#lib/rpc/caller-in'
import type { Call } from '#lib/rpc/headers'
import { coversRole } from '#lib/rpc/roles'
import { existingOrganization } from '../../organizations/active-organization.ts'
import type { Context } from '../../context.ts'
import { refuseChanged, whileReleased } from '../../members/keep-owner.ts'
import { organizationNotFound } from '../../organizations/organization-not-found.ts'
import type { Organization, OrganizationEvent } from '../../vocabulary/organization.ts'

/**
 * Deactivates or removes an organization by `decide`, with all its users. NOT_FOUND ORGANIZATION_NOT_FOUND;
 * PERMISSION_DENIED where a user of it has a role on the instance above the caller's; FAILED_PRECONDITION
 * LAST_IAM_OWNER; ABORTED CONFLICT where it changed since this began.
 */
export async function endOrganization(
  context: Context,
  id: string,
  call: Call,
  decide: (organization: Organization) => Decision<OrganizationEvent>,
): Promise<{ details: ObjectDetails }> {
  const known = await context.store.load<Organization>('organization', id)
  if (!known) throw organizationNotFound()
  // Where this is refused anyway, no owner is released.
  decide(existingOrganization(known))
  const refuse = refuseChanged(known)
  const end = () =>
    context.store.execute({
      aggregate: { type: 'organization', id },
      call,
      decide(organization: Aggregate<Organization>) {
        const decision = decide(existingOrganization(organization))
        refuse(organization)
        return decision
      },
      respond: ({ after }) => ({ details: details(after) }),
    })
  const above = await findMembersAbove(context, id, call)
  return whileReleased(context, { $case: 'organizationId', value: id }, 'loses', call, end, above)
}

/** The members of the instance with a role that the caller's roles in the organization do not cover. */
async function findMembersAbove({ sql }: Context, organizationId: string, call: Call): Promise<string[]> {
  const held = rolesIn(await callerIn(call, organizationId), organizationId)
  const rows = await orUnavailable(sql<{ user_id: string; roles: string[] }[]>`
    select user_id, roles from memberships where organization_id = ${instance.id}
  `)
  return rows.filter(({ roles }) => !roles.every((role) => coversRole(held, role))).map(({ user_id }) => user_id)
}
