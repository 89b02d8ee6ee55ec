import type {
  SearchIdentityProvidersRequest,
  SearchIdentityProvidersResponse,
} from '#gen/roster/idp/v1/provider_service'
import type { Existing } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import { aggregateColumns, joinAggregate } from '#lib/search/joined-aggregate'
import { search } from '#lib/search/search'
import { textCondition } from '#lib/search/text-condition'
import type { Context } from '../../context.ts'
import { showKind } from '../../kinds/show-kind.ts'
import type { Idp } from '../../vocabulary.ts'

export async function searchIdentityProviders(
  { sql, keys }: Context,
  request: SearchIdentityProvidersRequest,
  call: Call,
): Promise<SearchIdentityProvidersResponse> {
  const { name, nameMethod, idpId, descending } = request
  const text = { exact: sql`v.name`, canonical: sql`v.canonical_name` }
  const { rows, nextCursor, total } = await search<Existing<Idp>>(
    { sql, keys },
    {
      method: 'SearchIdentityProviders',
      request,
      call,
      columns: aggregateColumns(sql),
      from: sql`idps v`,
      shown: joinAggregate(sql, 'idp', sql`v.idp_id`),
      where: sql`v.organization_id = ${call.organizationId}
          ${name ? sql`and ${textCondition(sql, text, name, nameMethod)}` : sql``}
          ${idpId ? sql`and v.idp_id = ${idpId}` : sql``}`,
      order: {
        by: [
          { column: sql`v.canonical_name`, type: 'text' },
          { column: sql`v.idp_id`, type: 'text' },
        ],
        descending,
      },
    },
  )
  return { identityProviders: rows.map(showKind), nextCursor, total }
}
