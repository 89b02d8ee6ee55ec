import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { memberKey, userGrantKey } from '../holdings.ts'
import type { Member } from '../vocabulary/member.ts'
import type { Removed } from '../vocabulary/removed.ts'
import type { UserGrant } from '../vocabulary/user-grant.ts'

/** Takes a membership or a user grant away, if it is still there. */
export function removedHolding({ organizationId, state }: Aggregate<Member | UserGrant>): Decision<Removed> {
  if (!state || state.removed) return { events: [], answer: undefined }
  return {
    releases: ['roles' in state ? memberKey(organizationId, state) : userGrantKey(organizationId, state)],
    events: [{ type: 'removed', payload: { userId: state.userId } }],
    answer: undefined,
  }
}
