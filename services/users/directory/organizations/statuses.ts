import type { Aggregate, AggregateKey } from '#lib/eventstore/aggregate'
import type { Store } from '#lib/eventstore/store'
import { isOpen, organizationStatuses, type OrganizationStatus } from '../../../organization-status.ts'
import { organizationType } from '../events/organization.ts'

/** What users knows of organizations. */
export const statuses = organizationStatuses(organizationType)

/** The one that a new user depends on. */
export type StatusKey = { status: AggregateKey<OrganizationStatus> }

/** Whether an organization is neither deactivated nor removed. A decision reads its status. */
export async function isOrganizationOpen({ store }: { store: Store }, organizationId: string): Promise<boolean> {
  const { type, id } = statuses.key(organizationId)
  return isOpen({ state: (await store.load<OrganizationStatus>(type, id))?.state })
}

/**
 * Whether a session that is there began since its organization was last opened: what began before that is over, as in
 * `begunSinceOpen`. Times of one moment count as before. Pure.
 */
export function beganSinceOpen(
  session: Pick<Aggregate, 'createdAt'>,
  status: Pick<Aggregate<OrganizationStatus>, 'changedAt' | 'state'> | undefined,
): boolean {
  return status?.state?.state !== 'active' || session.createdAt > status.changedAt
}
