import type { UserGrant as ShownUserGrant } from '#gen/roster/grants/v1/user_grant_service'
import type { Existing } from '#lib/eventstore/aggregate'
import type { Fragment } from '#lib/database/database'
import type { Asked } from '#lib/search/cursor'
import { type Page, search } from '#lib/search/search'
import type { Context } from '../context.ts'
import { showUserGrant } from '../show.ts'
import type { UserGrant } from '../vocabulary/user-grant.ts'
import { aggregateColumns, joinAggregate } from '#lib/search/joined-aggregate'

/**
 * Finds user grants `u`, the oldest first. `from` may join more tables. `id` is the column of the grant's id in the
 * table that `where` filters.
 */
export async function searchGrantsOfUsers(
  { sql, config }: Context,
  asked: Asked,
  { from = sql`user_grants u`, id = sql`u.grant_id`, where }: { from?: Fragment; id?: Fragment; where: Fragment },
): Promise<Page<ShownUserGrant>> {
  const page = await search<Existing<UserGrant>>(
    { sql, keys: config.ROSTER_ENCRYPTION_KEY },
    {
      ...asked,
      columns: aggregateColumns(sql),
      from,
      shown: joinAggregate(sql, 'user_grant', sql`u.grant_id`),
      where,
      order: { by: [{ column: id, type: 'text' }] },
    },
  )
  return { ...page, rows: page.rows.map(showUserGrant) }
}
