import {
  IDPFieldName,
  IDPState,
  type SearchIDPsRequest,
  type SearchIDPsResponse,
} from '#gen/roster/idp/v1/identity_provider_service'
import type { Existing } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
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
  const { rows, nextCursor, total } = await search<{ row: Row | null }>(
    { sql, keys },
    {
      method: 'SearchIDPs',
      request,
      call,
      // Not a join: a total then counts without the objects.
      columns: sql`(select to_jsonb(a) from aggregates a where a.type = 'idp' and a.id = v.idp_id) as row`,
      from: sql`idps v`,
      where: sql`v.organization_id = ${call.organizationId}
          ${name ? sql`and ${textCondition(sql, text, name, nameMethod)}` : sql``}
          ${protocol ? sql`and v.protocol = ${protocol}` : sql``}
          ${state ? sql`and v.inactive = ${state === IDPState.IDP_STATE_INACTIVE}` : sql``}`,
      order: { by: [sortedBy, { column: sql`v.idp_id`, type: 'text' }], descending },
    },
  )
  // A row without its object must not hide the others.
  const stored = rows.flatMap(({ row }) => row ?? [])
  return { idps: stored.map((row) => showIdp(aggregateOf(row))), nextCursor, total }
}

/** A row of `aggregates` as JSON. */
interface Row {
  id: string
  organization_id: string
  sequence: number
  created_at: string
  changed_at: string
  state: Idp
}

function aggregateOf({ id, organization_id, sequence, created_at, changed_at, state }: Row): Existing<Idp> {
  const [createdAt, changedAt] = [new Date(created_at), new Date(changed_at)]
  return { type: 'idp', id, organizationId: organization_id, sequence, createdAt, changedAt, state }
}
