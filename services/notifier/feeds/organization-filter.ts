import type { EventFilter } from '#gen/roster/feed/v1/feed'
import { invalid } from '#lib/errors'
import { permissionDenied } from '#lib/rpc/authorize'

/** Limits a filter to one organization's events. INVALID_ARGUMENT if it asks for another organization's. */
export function ofOrganization(filter: EventFilter | undefined, organizationId: string): EventFilter {
  // In a filter, an empty organization would mean all of them.
  if (organizationId === '') throw permissionDenied()
  const asked = filter?.organizationId ?? ''
  if (asked !== '' && asked !== organizationId)
    throw invalid([{ field: 'filter.organizationId', description: 'must be left out or be the acting organization' }])
  return {
    aggregateTypes: [],
    aggregateIds: [],
    eventTypes: [],
    actors: [],
    since: undefined,
    ...filter,
    organizationId,
  }
}
