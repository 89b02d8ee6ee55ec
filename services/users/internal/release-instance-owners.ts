import type { ReleaseInstanceOwnersRequest, ReleaseInstanceOwnersResponse } from '#gen/roster/users/v1/internal_service'
import { type Aggregate, evenUnreadable } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { instance } from '#lib/instance'
import { permissionDenied } from '#lib/rpc/authorize'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { findOthers, isOneOf, ownershipOf } from '../directory/states/instance-owners.ts'
import type { Ownership, OwnershipEvent } from '../directory/events/ownership.ts'
import type { User } from '../directory/events/user.ts'

export async function releaseInstanceOwners(
  { store }: Context,
  { owners, releaseId, isNew, ownerIds, untouchableIds }: ReleaseInstanceOwnersRequest,
  call: Call,
): Promise<ReleaseInstanceOwnersResponse> {
  const untouchable = await Promise.all(untouchableIds.map((id) => evenUnreadable(store.load<User>('user', id))))
  if (untouchable.some((user) => user && isOneOf(owners!, user))) throw permissionDenied()
  const others = isNew ? undefined : await findOthers(store, ownerIds, owners!)
  return store.execute({
    aggregate: ownershipOf(owners!),
    reads: { ...others?.reads },
    call,
    decide(_: Aggregate<Ownership>, _now, read): Decision<OwnershipEvent> {
      others?.refuseNone(read)
      return {
        organizationId: instance.id,
        events: [{ type: 'released', payload: { releaseId } }],
        answer: undefined,
      }
    },
    respond: ({ after }) => ({ releaseIds: after.state!.releaseIds }),
  })
}
