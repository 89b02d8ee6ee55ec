import type { Sql } from '#lib/database/database'
import { instance } from '#lib/instance'
import { type Asker, runQueued } from '#lib/search/search-queue'
import type { AccessQuestion } from './access-question.ts'
import { type Sight, sightAt } from './sight.ts'
import type { Until } from './until.ts'

/** Memberships that followed each other at one place, at most; and those at all other places. */
const [mostAtPlace, mostElsewhere] = [20, 20]
/** Memberships elsewhere among which those are looked for that the caller may see. */
const mostSought = 500
/** Removed memberships elsewhere of which those are taken: any organization may make as many as it likes. */
const mostRemoved = 5000

/**
 * The ids of a user's memberships that were there before the moment, also of those that were removed: the newest at the
 * places that count, and at others those that are still there first. Elsewhere, those that the caller may not see are
 * left out, except in the user's own organization. The sight that it gives knows all these places.
 */
export async function findMembers(
  sql: Sql,
  asker: Asker,
  { userId, organizationId, projectId }: AccessQuestion,
  home: string,
  sight: Sight,
  until: Until | undefined,
): Promise<{ ids: string[]; incomplete: boolean; sight: Sight }> {
  const places = [[instance.id, ''], [organizationId, ''], ...(projectId ? [[organizationId, projectId]] : [])]
  const earlier = until ? sql`and m.created_at <= ${new Date(until.time.getTime() + tolerance)}` : sql``
  const own = sql`m.type = 'member' and m.state ->> 'userId' = ${userId} ${earlier}`
  const isPlace = sql`(organization_id, coalesce(state ->> 'projectId', '')) in (select * from places)`
  const rows = await runQueued(
    sql,
    asker,
    sql<Row[]>`
      with places as (
        select * from unnest(${places.map(([id]) => id!)}::text[], ${places.map(([, id]) => id!)}::text[]) p (organization_id, project_id)
      )
      select here.id, true as counts, '' as "organizationId", null as "projectId" from places
      cross join lateral (
        select id from aggregates m
        where ${own} and m.organization_id = places.organization_id
          and coalesce(m.state ->> 'projectId', '') = places.project_id
        order by m.created_at desc limit ${mostAtPlace}
      ) here
      union all
      select elsewhere.* from (
        select id, false, m.organization_id, m.state ->> 'projectId' from (
          (select * from aggregates m where ${own} and not m.state ? 'removed' and not ${isPlace})
          union all
          (select * from aggregates m where ${own} and m.state ? 'removed' and not ${isPlace} limit ${mostRemoved})
        ) m
        order by m.organization_id in (${organizationId}, ${home}) desc, m.state ? 'removed', m.created_at desc
        limit ${mostSought}
      ) elsewhere
    `,
  )
  const others = rows.filter(({ counts }) => !counts)
  const wider = await sightAt(sql, sight, others)
  const elsewhere = others.filter(
    (row) => row.organizationId === home || wider.seesMember(row.organizationId, row.projectId ?? undefined),
  )
  const ids = [...rows.filter(({ counts }) => counts), ...elsewhere.slice(0, mostElsewhere)].map(({ id }) => id)
  return { ids, incomplete: elsewhere.length > mostElsewhere, sight: wider }
}

interface Row {
  id: string
  counts: boolean
  organizationId: string
  projectId: string | null
}

/** Milliseconds by which the clocks of replicas may differ. */
const tolerance = 60_000
