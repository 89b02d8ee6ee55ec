import type { Event } from '#gen/roster/feed/v1/feed'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { because, startFollowing } from '#lib/eventstore/follow'
import { inPortions, portionSize } from '#lib/eventstore/in-portions'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats'
import type { Service } from '#lib/process'
import { notedEvents } from '../../organization-notes.ts'
import type { Context } from '../context.ts'
import { removedUser } from '../states/removed-user.ts'
import type { User, UserEvent } from '../vocabulary/user.ts'
import { notes } from './notes.ts'

/**
 * Follows what grants does to organizations. Two followers, so that a removal with many users does not hold up the note
 * of another organization.
 */
export function startFollowingOrganizations(context: Context, nats: Nats, log: Log): Service[] {
  const { grants, sql, store } = context
  const common = { service: 'grants', feed: grants.listEvents, sql, nats, log }
  return [
    startFollowing({
      ...common,
      name: 'organization-states',
      eventTypes: [...notedEvents],
      handle: async (event) => void (await notes.note(store, event)),
    }),
    startFollowing({
      ...common,
      name: 'organization-removal',
      eventTypes: ['organization.removed'],
      handle: (event, stopped) => removeUsers(context, event, stopped),
    }),
  ]
}

async function removeUsers({ sql, store }: Context, event: Event, stopped: AbortSignal): Promise<void> {
  // The note comes first. A user that was stored before the note is found below.
  await notes.note(store, event)
  await inPortions(
    (after) => sql<{ id: string }[]>`
      select id from aggregates
      where type = 'user' and not state ? 'removed' and organization_id = ${event.aggregateId} and id > ${after}
      order by id limit ${portionSize}
    `,
    ({ id }) => store.execute({ aggregate: { type: 'user', id }, call: because(event), decide: removed }),
    stopped,
  )
}

function removed({ organizationId, state }: Aggregate<User>): Decision<UserEvent> {
  if (!state || state.removed) return { events: [], answer: undefined }
  return removedUser(state, organizationId)
}
