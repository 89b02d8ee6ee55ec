import type {
  ReactivateOrganizationRequest,
  ReactivateOrganizationResponse,
} from '#gen/roster/grants/v1/organization_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { existingOrganization } from '../../organizations/active-organization.ts'
import { organizationNotFound } from '../../organizations/organization-not-found.ts'
import { whileReleased } from '../../members/keep-owner.ts'
import type { Organization, OrganizationEvent } from '../../vocabulary/organization.ts'

/** Its users count as owners of the instance again, once this is stored. */
export async function reactivateOrganization(
  context: Context,
  _request: ReactivateOrganizationRequest,
  call: Call,
): Promise<ReactivateOrganizationResponse> {
  const known = await context.store.load<Organization>('organization', call.organizationId)
  if (!known) throw organizationNotFound()
  // Where this is refused anyway, no owner is released.
  decide(known)
  return whileReleased(context, { $case: 'organizationId', value: call.organizationId }, 'gets', call, () =>
    context.store.execute({
      aggregate: { type: 'organization', id: call.organizationId },
      call,
      decide,
      respond: ({ after }) => ({ details: details(after) }),
    }),
  )
}

function decide(organization: Aggregate<Organization>): Decision<OrganizationEvent> {
  if (!existingOrganization(organization).inactive)
    throw new RosterError('FAILED_PRECONDITION', 'ORGANIZATION_NOT_INACTIVE', 'The organization is not deactivated.')
  return { events: [{ type: 'reactivated', payload: {} }], answer: undefined }
}
