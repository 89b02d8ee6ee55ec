import type { Event } from '#gen/roster/feed/v1/feed'
import { RosterError } from '#lib/errors'
import type { Aggregate, AggregateKey } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { because } from '#lib/eventstore/follow'
import type { Store } from '#lib/eventstore/store'
import { plainType } from '#lib/events/event-type'

/** What a service notes of an organization that grants deactivated, reactivated or removed. */
export interface OrganizationNote {
  state: 'active' | 'inactive' | 'removed'
  /** The sequence of the organization's event. An event that comes late changes nothing. */
  sequence: number
}

/** The events of a note. */
export type OrganizationNoted = { type: 'noted'; payload: OrganizationNote }

/** The note after an event. */
export function evolveNote(_: unknown, { payload }: OrganizationNoted): OrganizationNote {
  return payload
}

export interface OrganizationNotes {
  /** Names the note. Every operation that makes something of an organization reads it. */
  key(organizationId: string): AggregateKey
  /** Notes what grants' event says. What is decided without the note is stored before it, or not at all. */
  note(store: Store, event: Event): Promise<unknown>
}

const states = new Map<string, OrganizationNote['state']>([
  ['organization.deactivated', 'inactive'],
  ['organization.reactivated', 'active'],
  ['organization.removed', 'removed'],
])

/** The types of grants' events that are noted. */
export const notedEvents: readonly string[] = [...states.keys()]

/** A service's notes. `type` is the type of their aggregates. */
export function organizationNotes(type: string): OrganizationNotes {
  const key = (id: string) => ({ type, id })
  return {
    key,
    note: (store, event) =>
      store.execute({
        aggregate: key(event.aggregateId),
        call: because(event),
        decide: (note: Aggregate<OrganizationNote>) => noted(note, event),
      }),
  }
}

function noted({ state: known }: Aggregate<OrganizationNote>, event: Event): Decision<OrganizationNoted> {
  const state = states.get(plainType(event.type))
  if (!state) throw new Error(`${event.type} says nothing of the state of an organization`)
  const { organizationId, sequence } = event
  if (known && known.sequence >= sequence) return { events: [], answer: undefined }
  return { organizationId, events: [{ type: 'noted', payload: { state, sequence } }], answer: undefined }
}

/** NOT_FOUND ORGANIZATION_NOT_FOUND where the organization was removed. */
export function refuseRemovedOrganization({ state }: Aggregate<OrganizationNote>): void {
  if (state?.state === 'removed')
    throw new RosterError('NOT_FOUND', 'ORGANIZATION_NOT_FOUND', 'There is no such organization.')
}

/** Whether users of the organization may sign in: it is neither deactivated nor removed. */
export function isOpen({ state }: { state: OrganizationNote | undefined }): boolean {
  return state === undefined || state.state === 'active'
}
