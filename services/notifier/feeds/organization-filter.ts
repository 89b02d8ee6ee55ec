import type { EventFilter } from '#gen/roster/feed/v1/feed'
import { invalid } from '#lib/errors'
import { permissionDenied } from '#lib/rpc/authorize'

/** The filter, for one organization's events only. INVALID_ARGUMENT where it asks for those of another one. */
export function ofOrganization(filter: EventFilter | undefined, organizationId: string): EventFilter {
  // To a filter, no organization would be every one.
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
