import type { GrantedProject } from '#gen/roster/grants/v1/project_service'
import type { Existing } from '#lib/eventstore/aggregate'
import type { Fragment } from '#lib/database/database'
import type { Asked } from '#lib/search/cursor'
import { type Page, search } from '#lib/search/search'
import type { Context } from '../context.ts'
import { showProjectGrant } from '../show.ts'
import type { ProjectGrant } from '../vocabulary/project-grant.ts'
import { aggregateColumns, joinAggregate } from '#lib/search/joined-aggregate'

/** Finds project grants `g` with their projects `p`, the oldest first. A removed project has none. */
export async function searchGrantsOfProjects(
  { sql, config }: Context,
  asked: Asked,
  where: Fragment,
): Promise<Page<GrantedProject>> {
  const page = await search<Existing<ProjectGrant> & { projectName: string }>(
    { sql, keys: config.ROSTER_ENCRYPTION_KEY },
    {
      ...asked,
      columns: sql`${aggregateColumns(sql)}, p.name as "projectName"`,
      from: sql`project_grants g join projects p on p.project_id = g.project_id`,
      shown: joinAggregate(sql, 'project_grant', sql`g.grant_id`),
      where,
      order: { by: [{ column: sql`g.grant_id`, type: 'text' }] },
    },
  )
  return { ...page, rows: page.rows.map((row) => showProjectGrant(row, row.projectName)) }
}
