import type { Event } from '#gen/roster/feed/v1/feed'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision, NewEvent } from '#lib/eventstore/command'
import { because, type FollowOptions, startFollowing } from '#lib/subscriptions/follow'
import { inPortions } from '#lib/database/in-portions'
import type { Store } from '#lib/eventstore/store'
import type { Service } from '#lib/process'
import type { OrganizationStatuses } from './organization-status.ts'

export interface OrganizationRemoval<State, Happens extends NewEvent> extends Pick<
  FollowOptions,
  'feed' | 'sql' | 'nats' | 'log'
> {
  store: Store
  statuses: OrganizationStatuses
  /** The type of the aggregates that go with their organization. */
  type: string
  /** The ids of those of an organization behind an id, in their order: `portionSize` at most. */
  find(organizationId: string, after: string): PromiseLike<{ id: string }[]>
  /** Removes one, if it is still there, also where it is unreadable. */
  decide(aggregate: Aggregate<State>): Decision<Happens>
}

/** Follows grants, and removes what a service has of an organization that was removed. */
export function startOrganizationRemoval<State, Happens extends NewEvent>(
  removal: OrganizationRemoval<State, Happens>,
): Service {
  const { feed, sql, nats, log } = removal
  return startFollowing({
    name: 'organization-removal',
    service: 'grants',
    feed,
    eventTypes: ['organization.removed'],
    handle: (event, stopped) => removeAll(removal, event, stopped),
    sql,
    nats,
    log,
  })
}

async function removeAll<State, Happens extends NewEvent>(
  { store, statuses, type, find, decide }: OrganizationRemoval<State, Happens>,
  event: Event,
  stopped: AbortSignal,
): Promise<void> {
  // The tombstone comes first. All that was stored before it is found below.
  await statuses.record(store, event)
  await inPortions(
    (after) => find(event.aggregateId, after),
    ({ id }) => store.execute({ aggregate: { type, id }, call: because(event), evenUnreadable: true, decide }),
    stopped,
  )
}
