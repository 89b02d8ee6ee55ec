import { RosterError } from '#lib/errors'
import { type Aggregate, type AggregateKey, evenUnreadable } from '#lib/eventstore/aggregate'
import type { ReadBy } from '#lib/eventstore/reads'
import type { Store } from '#lib/eventstore/store'
import { isActive } from './user-state.ts'
import { type Ownership, ownershipType } from '../events/ownership.ts'
import { type User, userKey } from '../events/user.ts'

/** One user, or all users of an organization. */
export type Owners = { $case: 'userId'; value: string } | { $case: 'organizationId'; value: string }

/** Names the ownership of these users. */
export function ownershipOf({ $case, value }: Owners): AggregateKey<Ownership> {
  return { type: ownershipType, id: `${$case === 'userId' ? 'user' : 'organization'}-${value}` }
}

/** Whether the user is this one, or of this organization. */
export function isOneOf({ $case, value }: Owners, { id, organizationId }: Aggregate<User>): boolean {
  return value === ($case === 'userId' ? id : organizationId)
}

/** The owners of the instance that are left when these end. They stay as they are until the decision is stored. */
export interface OthersLeft {
  reads: OwnerKeys
  /** FAILED_PRECONDITION LAST_IAM_OWNER where none of them is active and counts. */
  refuseNone(read: ReadBy<OwnerKeys>): void
}

/** Of a user who is no owner, none are looked for. */
type OwnerKeys = {
  owners?: AggregateKey<User>[] | undefined
  ownerships?: AggregateKey<Ownership>[] | undefined
}

/** Looks for the owners of the instance, by their ids, that are left when some end. */
export async function findOthers(store: Store, ownerIds: string[], ended: Owners): Promise<OthersLeft> {
  const owners = await Promise.all(ownerIds.map((id) => evenUnreadable(store.load<User>('user', id))))
  // Of an unreadable one, it is unknown whether it is active.
  const others = owners.flatMap((owner) => (owner?.state && !isOneOf(ended, owner) ? owner : []))
  return {
    reads: { owners: others.map(({ id }) => userKey(id)), ownerships: others.flatMap(ownershipsOf) },
    refuseNone({ owners = [], ownerships = [] }) {
      const released = new Set(ownerships.filter(({ state }) => state?.releaseIds.length).map(({ id }) => id))
      const counts = (owner: Aggregate<User>) =>
        isActive(owner.state) && ownershipsOf(owner).every(({ id }) => !released.has(id))
      if (!owners.some(counts))
        throw new RosterError('FAILED_PRECONDITION', 'LAST_IAM_OWNER', 'No other active user has all permissions.')
    },
  }
}

function ownershipsOf({ id, organizationId }: Aggregate<User>): AggregateKey<Ownership>[] {
  return [ownershipOf({ $case: 'userId', value: id }), ownershipOf({ $case: 'organizationId', value: organizationId })]
}
