import {
  IDPFieldName,
  IDPState,
  type SearchIDPsRequest,
  type SearchIDPsResponse,
} from '#gen/roster/idp/v1/identity_provider_service'
import type { Existing } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import { aggregateColumns, joinAggregate } from '#lib/search/joined-aggregate'
import { type Order, search } from '#lib/search/search'
import { textCondition } from '#lib/search/text-condition'
import type { Context } from '../context.ts'
import { protocols, showIdp, types } from '../show.ts'
import type { Idp } from '../vocabulary.ts'

export async function searchIdps(
  { sql, keys }: Context,
  request: SearchIDPsRequest,
  call: Call,
): Promise<SearchIDPsResponse> {
  const { name, nameMethod, type, state, sortingColumn, descending } = request
  const protocol = protocols.find((protocol) => types[protocol] === type)
  const text = { exact: sql`v.name`, canonical: sql`v.canonical_name` }
  const sortedBy: Order['by'][number] =
    sortingColumn === IDPFieldName.IDP_FIELD_NAME_CREATION_DATE
      ? { column: sql`v.created_at`, type: 'timestamptz' }
      : { column: sql`v.canonical_name`, type: 'text' }
  const { rows, nextCursor, total } = await search<Existing<Idp>>(
    { sql, keys },
    {
      method: 'SearchIDPs',
      request,
      call,
      columns: aggregateColumns(sql),
      from: sql`idps v`,
      shown: joinAggregate(sql, 'idp', sql`v.idp_id`),
      where: sql`v.organization_id = ${call.organizationId}
          ${name ? sql`and ${textCondition(sql, text, name, nameMethod)}` : sql``}
          ${protocol ? sql`and v.protocol = ${protocol}` : sql``}
          ${state ? sql`and v.inactive = ${state === IDPState.IDP_STATE_INACTIVE}` : sql``}`,
      order: { by: [sortedBy, { column: sql`v.idp_id`, type: 'text' }], descending },
    },
  )
  return { idps: rows.map(showIdp), nextCursor, total }
}
