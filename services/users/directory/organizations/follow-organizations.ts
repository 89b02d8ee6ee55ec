import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { startFollowing } from '#lib/subscriptions/follow'
import { portionSize } from '#lib/database/in-portions'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { statusEvents } from '../../../organization-status.ts'
import { startOrganizationRemoval } from '../../../organization-removal.ts'
import type { Context } from '../../context.ts'
import { erasedUser, removedUnreadable, removedUser } from '../states/removed-user.ts'
import type { User, UserEvent } from '../events/user.ts'
import { statuses } from './statuses.ts'

/**
 * Follows what grants does to organizations. Two followers, so that a removal with many users does not hold up the
 * status of another organization.
 */
export function startFollowingOrganizations({ grants, sql, store }: Context, nats: Nats, log: Log): Service[] {
  const common = { feed: grants.listEvents, sql, nats, log }
  return [
    startFollowing({
      ...common,
      name: 'organization-states',
      service: 'grants',
      eventTypes: [...statusEvents],
      handle: async (event) => void (await statuses.record(store, event)),
    }),
    startOrganizationRemoval({
      ...common,
      store,
      statuses,
      type: 'user',
      // Also users who wait to be erased, and unreadable ones, which no search finds.
      find: (organizationId, after) => sql<{ id: string }[]>`
        select id from aggregates
        where type = 'user' and organization_id = ${organizationId} and id > ${after}
          and (not state ? 'removed' or state ? 'former')
        order by id limit ${portionSize}
      `,
      decide: removed,
    }),
  ]
}

function removed({ id, organizationId, state, unreadable }: Aggregate<User>): Decision<UserEvent> {
  if (unreadable) return removedUnreadable(id)
  // The removal cannot be undone of a user who waits to be erased: the organization is not there any more.
  if (state?.former) return erasedUser(state.former, organizationId)
  if (!state || state.removed) return { events: [], answer: undefined }
  return removedUser(state, organizationId)
}
