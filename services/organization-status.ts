import type { Event } from '#gen/roster/feed/v1/feed'
import { RosterError } from '#lib/errors'
import type { Aggregate, AggregateKey } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { because } from '#lib/subscriptions/follow'
import type { Store } from '#lib/eventstore/store'
import { plainType } from '#lib/events/event-type'

/** A service's copy of the status of an organization that grants deactivated, reactivated or removed. */
export interface OrganizationStatus {
  state: 'active' | 'inactive' | 'removed'
  /** The sequence of the organization's event. An event that comes late changes nothing. */
  sequence: number
}

export type OrganizationStatusEvent = { type: 'noted'; payload: OrganizationStatus }

export function evolveStatus(_: unknown, { payload }: OrganizationStatusEvent): OrganizationStatus {
  return payload
}

export interface OrganizationStatuses {
  /** Names the status. Every operation that makes something of an organization reads it. */
  key(organizationId: string): AggregateKey<OrganizationStatus>
  /**
   * Records what grants' event says; a removal leaves a tombstone. What is decided without it is stored before it, or
   * not at all.
   */
  record(store: Store, event: Event): Promise<unknown>
}

const states = new Map<string, OrganizationStatus['state']>([
  ['organization.deactivated', 'inactive'],
  ['organization.reactivated', 'active'],
  ['organization.removed', 'removed'],
])

/** The types of grants' events that change a status. */
export const statusEvents: readonly string[] = [...states.keys()]

/** A service's statuses of organizations. `type` is the type of their aggregates. */
export function organizationStatuses(type: string): OrganizationStatuses {
  const key = (id: string) => ({ type, id })
  return {
    key,
    record: (store, event) =>
      store.execute({
        aggregate: key(event.aggregateId),
        call: because(event),
        decide: (status: Aggregate<OrganizationStatus>) => changed(status, event),
      }),
  }
}

function changed({ state: known }: Aggregate<OrganizationStatus>, event: Event): Decision<OrganizationStatusEvent> {
  const state = states.get(plainType(event.type))
  if (!state) throw new Error(`${event.type} says nothing of the state of an organization`)
  const { organizationId, sequence } = event
  if (known && known.sequence >= sequence) return { events: [], answer: undefined }
  return { organizationId, events: [{ type: 'noted', payload: { state, sequence } }], answer: undefined }
}

/** NOT_FOUND ORGANIZATION_NOT_FOUND where the organization was removed. */
export function refuseRemovedOrganization({ state }: Aggregate<OrganizationStatus>): void {
  if (state?.state === 'removed')
    throw new RosterError('NOT_FOUND', 'ORGANIZATION_NOT_FOUND', 'There is no such organization.')
}

/** Whether users of the organization may sign in: it is neither deactivated nor removed. */
export function isOpen({ state }: { state: OrganizationStatus | undefined }): boolean {
  return state === undefined || state.state === 'active'
}
