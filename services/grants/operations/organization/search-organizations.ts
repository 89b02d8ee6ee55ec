import {
  OrganizationFieldName,
  OrganizationState,
  type SearchOrganizationsRequest,
  type SearchOrganizationsResponse,
} from '#gen/roster/grants/v1/organization_service'
import type { Existing } from '#lib/eventstore/aggregate'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import { type Order, search } from '#lib/search/search'
import { textCondition } from '#lib/search/text-condition'
import type { Context } from '../../context.ts'
import { aggregateColumns, joinAggregate } from '#lib/search/joined-aggregate'
import { showOrganization } from '../../show.ts'
import type { Organization } from '../../vocabulary/organization.ts'

export async function searchOrganizations(
  { sql, config }: Context,
  request: SearchOrganizationsRequest,
  call: Call,
): Promise<SearchOrganizationsResponse> {
  const { name, primaryDomain, state, sortingColumn, descending, defaultQuery } = request
  const first: Order['by'][number] =
    sortingColumn === OrganizationFieldName.ORGANIZATION_FIELD_NAME_NAME
      ? { column: sql`o.canonical_name`, type: 'text' }
      : { column: sql`o.created_at`, type: 'timestamptz' }
  const nameColumn = { exact: sql`o.name`, canonical: sql`o.canonical_name` }
  const page = await search<Existing<Organization>>(
    { sql, keys: config.ROSTER_ENCRYPTION_KEY },
    {
      method: 'SearchOrganizations',
      request,
      call,
      columns: aggregateColumns(sql),
      from: sql`organizations o`,
      shown: joinAggregate(sql, 'organization', sql`o.organization_id`),
      where: sql`
        true
        ${name ? sql`and ${textCondition(sql, nameColumn, name.text, name.method)}` : sql``}
        ${primaryDomain ? sql`and o.primary_domain = ${primaryDomain}` : sql``}
        ${defaultQuery ? sql`and o.organization_id = ${instance.organization.id}` : sql``}
        ${state ? sql`and o.inactive = ${state === OrganizationState.ORGANIZATION_STATE_INACTIVE}` : sql``}
      `,
      order: { by: [first, { column: sql`o.organization_id`, type: 'text' }], descending },
    },
  )
  return { organizations: page.rows.map(showOrganization), nextCursor: page.nextCursor, total: page.total }
}
