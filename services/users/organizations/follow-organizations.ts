import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { startFollowing } from '#lib/eventstore/follow'
import { portionSize } from '#lib/eventstore/in-portions'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats'
import type { Service } from '#lib/process'
import { notedEvents } from '../../organization-status.ts'
import { startOrganizationRemoval } from '../../organization-removal.ts'
import type { Context } from '../context.ts'
import { erasedUser, removedUnreadable, removedUser } from '../states/removed-user.ts'
import type { User, UserEvent } from '../vocabulary/user.ts'
import { notes } from './statuses.ts'

/**
 * Follows what grants does to organizations. Two followers, so that a removal with many users does not hold up the note
 * of another organization.
 */
export function startFollowingOrganizations({ grants, sql, store }: Context, nats: Nats, log: Log): Service[] {
  const common = { feed: grants.listEvents, sql, nats, log }
  return [
    startFollowing({
      ...common,
      name: 'organization-states',
      service: 'grants',
      eventTypes: [...notedEvents],
      handle: async (event) => void (await notes.note(store, event)),
    }),
    startOrganizationRemoval({
      ...common,
      store,
      notes,
      type: 'user',
      // Also who waits to be erased, and whom no search finds because nobody can read it.
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
  // Nobody can undo the removal of a user who waits to be erased: the organization is not there any more.
  if (state?.former) return erasedUser(state.former, organizationId)
  if (!state || state.removed) return { events: [], answer: undefined }
  return removedUser(state, organizationId)
}
