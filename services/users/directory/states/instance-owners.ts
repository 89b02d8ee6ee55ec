import { RosterError } from '#lib/errors'
import { type Aggregate, type AggregateKey, evenUnreadable, type Existing } from '#lib/eventstore/aggregate'
import type { Store } from '#lib/eventstore/store'
import { isActive } from './user-state.ts'
import { type Ownership, ownershipType } from '../events/ownership.ts'
import type { User } from '../events/user.ts'

/** One user, or all users of an organization. */
export type Owners = { $case: 'userId'; value: string } | { $case: 'organizationId'; value: string }

/** Names the ownership of these users. */
export function ownershipOf({ $case, value }: Owners): AggregateKey {
  return { type: ownershipType, id: `${$case === 'userId' ? 'user' : 'organization'}-${value}` }
}

/** Whether the user is this one, or of this organization. */
export function isOneOf({ $case, value }: Owners, { id, organizationId }: Aggregate<User>): boolean {
  return value === ($case === 'userId' ? id : organizationId)
}

/** The owners of the instance that are left when these end. They stay as they are until the decision is stored. */
export interface OthersLeft {
  reads: AggregateKey[]
  /** FAILED_PRECONDITION LAST_IAM_OWNER where none of them is active and counts. */
  refuseNone(reads: Aggregate[]): void
}

/** Looks for the owners of the instance, by their ids, that are left when some end. */
export async function findOthers(store: Store, ownerIds: string[], ended: Owners): Promise<OthersLeft> {
  const owners = await Promise.all(ownerIds.map((id) => evenUnreadable(store.load<User>('user', id))))
  // Of an unreadable one, it is unknown whether it is active.
  const others = owners
    .filter((owner) => owner?.state !== undefined)
    .map((owner) => owner as Existing<User>)
    .filter((owner) => !isOneOf(ended, owner))
  return {
    reads: others.flatMap(({ id, organizationId }) => [
      { type: 'user', id },
      ownershipOf({ $case: 'userId', value: id }),
      ownershipOf({ $case: 'organizationId', value: organizationId }),
    ]),
    refuseNone(reads) {
      const counts = others.some((_, index) => {
        const [user, ...ownerships] = reads.slice(index * 3, index * 3 + 3)
        return (
          isActive(user!.state as User | undefined) &&
          ownerships.every(({ state }) => !(state as Ownership | undefined)?.releaseIds.length)
        )
      })
      if (!counts)
        throw new RosterError('FAILED_PRECONDITION', 'LAST_IAM_OWNER', 'No other active user has all permissions.')
    },
  }
}
