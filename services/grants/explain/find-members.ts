import type { Sql } from '#lib/eventstore/database'
import { instance } from '#lib/instance'
import { type Asker, inTurn } from '#lib/search/in-turn'
import type { AccessQuestion } from './access-question.ts'
import type { Until } from './until.ts'

/** Memberships that followed each other at one place, at most; and those at all other places. */
const [mostAtPlace, mostElsewhere] = [20, 50]

/**
 * The ids of a user's memberships that were there before the moment, also of those that were removed: the newest at the
 * places that count, and at others those that are still there first.
 */
export async function findMembers(
  sql: Sql,
  asker: Asker,
  { userId, organizationId, projectId }: AccessQuestion,
  until: Until | undefined,
): Promise<{ ids: string[]; incomplete: boolean }> {
  const places = [[instance.id, ''], [organizationId, ''], ...(projectId ? [[organizationId, projectId]] : [])]
  const earlier = until ? sql`and m.created_at <= ${new Date(until.time.getTime() + tolerance)}` : sql``
  const own = sql`m.type = 'member' and m.state ->> 'userId' = ${userId} ${earlier}`
  const isPlace = sql`(organization_id, coalesce(state ->> 'projectId', '')) in (select * from places)`
  const rows = await inTurn(
    sql,
    asker,
    sql<{ id: string; counts: boolean }[]>`
      with places as (
        select * from unnest(${places.map(([id]) => id!)}::text[], ${places.map(([, id]) => id!)}::text[]) p (organization_id, project_id)
      )
      select here.id, true as counts from places
      cross join lateral (
        select id from aggregates m
        where ${own} and m.organization_id = places.organization_id
          and coalesce(m.state ->> 'projectId', '') = places.project_id
        order by m.created_at desc limit ${mostAtPlace}
      ) here
      union all
      select elsewhere.id, false from (
        select id from aggregates m where ${own} and not ${isPlace}
        order by m.state ? 'removed', m.organization_id = ${organizationId} desc, m.created_at desc
        limit ${mostElsewhere + 1}
      ) elsewhere
    `,
  )
  const elsewhere = rows.filter(({ counts }) => !counts).slice(0, mostElsewhere)
  const ids = [...rows.filter(({ counts }) => counts), ...elsewhere].map(({ id }) => id)
  return { ids, incomplete: ids.length < rows.length }
}

/** Milliseconds by which the clocks of replicas may differ. */
const tolerance = 60_000
