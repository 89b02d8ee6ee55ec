import type { UserGrant as ShownUserGrant } from '#gen/roster/grants/v1/user_grant_service'
import type { SearchQuery } from '#gen/roster/users/v1/user_search'
import type { Existing } from '#lib/eventstore/aggregate'
import type { Fragment } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import { type Asked, readCursor, writeCursor } from '#lib/search/cursor'
import { runQueued } from '#lib/search/search-queue'
import { cutPage, defaultLimit } from '#lib/search/search'
import type { Context } from '../context.ts'
import { showUserGrant } from '../show.ts'
import type { UserGrant } from '../vocabulary/user-grant.ts'
import { aggregateColumns, joinAggregate } from '#lib/search/joined-aggregate'

const usersAtOnce = 1000
const enough = 2000
// Behind the id of every grant.
const afterAll = '~'

/**
 * Finds user grants `u` of the users that fit the queries, in the order of the users' ids. Users has their names, so it
 * is asked for some of them at a time. After two seconds the page ends, and the cursor goes on from there.
 */
export async function searchByUsers(
  context: Context,
  asked: Asked & { call: Call },
  queries: SearchQuery[],
  filter: { from: Fragment; where: Fragment },
): Promise<{ rows: ShownUserGrant[]; nextCursor: string }> {
  const { config, users } = context
  const { request, call } = asked
  const keys = config.ROSTER_ENCRYPTION_KEY
  const limit = request.limit || defaultLimit
  const until = Date.now() + enough
  let [user, grant] = (readCursor(keys, asked) ?? ['', afterAll]) as [string, string]
  let found = await grantsOf(context, call, filter, [user], grant, limit + 1)
  let isEnd = false
  while (!isEnd && found.length <= limit && Date.now() < until) {
    const some = { organizationId: call.organizationId, queries, after: user, limit: usersAtOnce }
    const { userIds } = await users.matchUsers(some, call)
    found = [...found, ...(await grantsOf(context, call, filter, userIds, '', limit + 1 - found.length))]
    isEnd = userIds.length < usersAtOnce
    ;[user, grant] = [userIds.at(-1) ?? user, afterAll]
  }
  const page = cutPage(found.slice(0, limit))
  const last = page.length < found.length ? [page.at(-1)!.state.userId, page.at(-1)!.id] : [user, grant]
  const goesOn = page.length < found.length || !isEnd
  return { rows: page.map(showUserGrant), nextCursor: goesOn ? writeCursor(keys, asked, last) : '' }
}

async function grantsOf(
  { sql }: Context,
  call: Call,
  { from, where }: { from: Fragment; where: Fragment },
  userIds: string[],
  after: string,
  limit: number,
): Promise<Existing<UserGrant>[]> {
  if (userIds.length === 0) return []
  return runQueued(
    sql,
    call,
    sql<Existing<UserGrant>[]>`
      select ${aggregateColumns(sql)}
      from ${from} ${joinAggregate(sql, 'user_grant', sql`u.grant_id`)}
      where ${where} and u.user_id = any(${userIds}::text[]) and u.grant_id > ${after}
      order by u.user_id, u.grant_id
      limit ${limit}
    `,
  )
}
