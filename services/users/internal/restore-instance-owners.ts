import type { RestoreInstanceOwnersRequest, RestoreInstanceOwnersResponse } from '#gen/roster/users/v1/internal_service'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { ownershipOf } from '../directory/states/instance-owners.ts'
import type { Ownership, OwnershipEvent } from '../directory/events/ownership.ts'

export async function restoreInstanceOwners(
  { store }: Context,
  { owners, releaseIds }: RestoreInstanceOwnersRequest,
  call: Call,
): Promise<RestoreInstanceOwnersResponse> {
  return store.execute({
    aggregate: ownershipOf(owners!),
    call,
    decide({ state }: Aggregate<Ownership>): Decision<OwnershipEvent> {
      const open = releaseIds.filter((id) => state?.releaseIds.includes(id))
      return {
        events: open.length === 0 ? [] : [{ type: 'restored', payload: { releaseIds: open } }],
        answer: undefined,
      }
    },
    respond: () => ({}),
  })
}
