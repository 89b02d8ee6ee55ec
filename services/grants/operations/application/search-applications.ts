import {
  ApplicationState,
  type SearchApplicationsRequest,
  type SearchApplicationsResponse,
} from '#gen/roster/grants/v1/application_service'
import type { Existing } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import { aggregateColumns, joinAggregate } from '#lib/search/joined-aggregate'
import { search } from '#lib/search/search'
import { textCondition } from '#lib/search/text-condition'
import { personTokenLifetime } from '../../applications/person-token-lifetime.ts'
import type { Context } from '../../context.ts'
import { showApplication } from '../../show.ts'
import type { Application } from '../../vocabulary/application.ts'

export async function searchApplications(
  context: Context,
  request: SearchApplicationsRequest,
  call: Call,
): Promise<SearchApplicationsResponse> {
  const { sql, config } = context
  const { projectId, name, state } = request
  const [exact, canonical] = [sql`p.name`, sql`p.canonical_name`]
  const page = await search<Existing<Application>>(
    { sql, keys: config.ROSTER_ENCRYPTION_KEY },
    {
      method: 'SearchApplications',
      request,
      call,
      columns: aggregateColumns(sql),
      from: sql`applications p`,
      shown: joinAggregate(sql, 'application', sql`p.application_id`),
      where: sql`
        p.organization_id = ${call.organizationId}
        ${projectId ? sql`and p.project_id = ${projectId}` : sql``}
        ${name ? sql`and ${textCondition(sql, { exact, canonical }, name.text, name.method)}` : sql``}
        ${state ? sql`and p.inactive = ${state === ApplicationState.APPLICATION_STATE_INACTIVE}` : sql``}
      `,
      order: {
        by: [
          { column: canonical, type: 'text' },
          { column: sql`p.application_id`, type: 'text' },
        ],
      },
    },
  )
  const lifetime = await personTokenLifetime(context, call)
  const applications = page.rows.map((row) => showApplication(row, lifetime))
  return { applications, nextCursor: page.nextCursor, total: page.total }
}
