import { RosterError } from '#lib/errors'
import { type AggregateKey, evenUnreadable } from '#lib/eventstore/aggregate'
import type { ReadBy } from '#lib/eventstore/reads'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { type User, userKey } from '../events/user.ts'
import { isActive } from './user-state.ts'

type OwnerKeys = { coOwners?: AggregateKey<User>[] | undefined }

/** The other owners of the organizations that a user is an owner of. They stay as they are until the decision is stored. */
export interface CoOwners {
  reads: OwnerKeys
  /** FAILED_PRECONDITION LAST_ORG_OWNER where one of these organizations has no other active owner. */
  refuseNone(read: ReadBy<OwnerKeys>): void
}

export async function findCoOwners({ store, grants }: Context, userId: string, call: Call): Promise<CoOwners> {
  const { organizations } = await grants.listOwnedOrganizations({ userId }, call)
  const ids = [...new Set(organizations.flatMap(({ otherOwnerIds }) => otherOwnerIds))]
  const found = await Promise.all(ids.map((id) => evenUnreadable(store.load<User>('user', id))))
  return {
    reads: { coOwners: found.flatMap((owner) => (owner?.state ? userKey(owner.id) : [])) },
    refuseNone({ coOwners = [] }) {
      const active = new Set(coOwners.filter(({ state }) => isActive(state)).map(({ id }) => id))
      if (organizations.some(({ otherOwnerIds }) => !otherOwnerIds.some((id) => active.has(id)))) throw lastOwner()
    },
  }
}

function lastOwner() {
  const message = 'An organization would have no other active owner (ORG_OWNER).'
  return new RosterError('FAILED_PRECONDITION', 'LAST_ORG_OWNER', message)
}
