import type { InternalServiceDefinition as GrantsInternal } from '#gen/roster/grants/v1/internal_service'
import type { Aggregate } from '#lib/eventstore/aggregate'
import { portionSize } from '#lib/database/in-portions'
import type { Opened } from '#lib/storing-service'
import type { Service } from '#lib/process'
import type { Client } from '#lib/rpc/call'
import { organizationStatuses } from '../organization-status.ts'
import { startOrganizationRemoval } from '../organization-removal.ts'
import { removedIdp } from './removed-idp.ts'
import type { Idp } from './vocabulary.ts'

/** The type of the tombstones of removed organizations. */
export const organizationType = 'idp_organization'

/** The tombstones of removed organizations. */
export const tombstones = organizationStatuses(organizationType)

/** Removes the identity providers of removed organizations. */
export function startRemovingOrganizations(
  { sql, store, nats, log }: Pick<Opened<unknown>, 'sql' | 'store' | 'nats' | 'log'>,
  grants: Client<typeof GrantsInternal, 'listEvents'>,
): Service {
  return startOrganizationRemoval({
    feed: (request, call) => grants.listEvents(request, call),
    find: (organizationId, after) => sql<{ id: string }[]>`
      select idp_id as id from idps where organization_id = ${organizationId} and idp_id > ${after}
      order by idp_id limit ${portionSize}
    `,
    decide: (idp: Aggregate<Idp>) => removedIdp(idp.organizationId, idp.state),
    type: 'idp',
    statuses: tombstones,
    store,
    sql,
    nats,
    log,
  })
}
