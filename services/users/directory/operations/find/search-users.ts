import { type SearchUsersRequest, type SearchUsersResponse, UserFieldName } from '#gen/roster/users/v1/user_search'
import type { Fragment, Sql } from '#lib/database/database'
import type { Violation } from '#lib/errors'
import { permissionDenied } from '#lib/rpc/authorize'
import { holds } from '#lib/rpc/caller'
import { callerIn } from '#lib/rpc/caller-in'
import type { Call } from '#lib/rpc/headers'
import { search, type Order } from '#lib/search/search'
import type { Context } from '../../../context.ts'
import { checkQueries, userConditions } from '../../search/user-conditions.ts'
import { showUser } from '../../search/show-user.ts'
import { readStored, selectStored, type StoredUser } from '../../search/stored-user.ts'
import { selectFactors, showFactors, type StoredFactor } from '../../search/user-factors.ts'

export const searchUsers = {
  async permit(request: SearchUsersRequest, call: Call): Promise<void> {
    if (holds(call.caller, 'user.read')) return
    if (request.allOrganizations) throw permissionDenied()
    // A request with more is refused later.
    for (const id of new Set(namedOrganizations(request).slice(0, mostQueries)))
      if (!holds(await callerIn(call, id), 'user.read', id)) throw permissionDenied()
  },

  check(_context: Context, request: SearchUsersRequest, call: Call): Violation[] {
    const { sortingColumn, queries } = request
    const isIndexed = scopeOf(request, call) !== undefined || everywhere.has(sortingColumn)
    const description = 'must be the creation date or the user name if users of all organizations are searched'
    return [...checkQueries(queries), ...(isIndexed ? [] : [{ field: 'sortingColumn', description }])]
  },

  async handle(context: Context, request: SearchUsersRequest, call: Call): Promise<SearchUsersResponse> {
    const { sql } = context
    const organizationId = scopeOf(request, call)
    const byEmail = request.sortingColumn === UserFieldName.USER_FIELD_NAME_EMAIL
    const sorted = byEmail ? sql`e` : sql`u`
    const within = organizationId === undefined ? sql`true` : sql`${sorted}.organization_id = ${organizationId}`
    const { rows, nextCursor, total } = await search<Row>(context, {
      method: 'SearchUsers',
      request,
      call,
      columns: sql`
        (${selectStored(context)}) as stored
        ${request.withFactors ? sql`, ${selectFactors(sql)} as factors` : sql``}
        ${request.withLastSignIn ? sql`, ${selectLastSignIn(sql)} as "lastSignIn"` : sql``}
      `,
      from: byEmail ? sql`found_addresses e join found_users u on u.user_id = e.user_id` : sql`found_users u`,
      where: sql`${within} and ${userConditions(sql, request.queries, organizationId)}`,
      order: orderOf(context, request),
    })
    const users = rows.flatMap(({ stored, factors = [], lastSignIn }) =>
      readStored(context, stored)
        .map(showUser)
        .map((user) => ({
          ...user,
          factors: showFactors(factors),
          lastSignInDate: lastSignIn ?? undefined,
        })),
    )
    return { users, nextCursor, total }
  },
}

const mostQueries = 50

interface Row {
  stored: StoredUser
  factors?: StoredFactor[]
  lastSignIn?: Date | null
}

// Only these orders have an index over all organizations.
const everywhere: ReadonlySet<UserFieldName> = new Set([
  UserFieldName.USER_FIELD_NAME_UNSPECIFIED,
  UserFieldName.USER_FIELD_NAME_CREATION_DATE,
  UserFieldName.USER_FIELD_NAME_USER_NAME,
])

function namedOrganizations({ queries }: SearchUsersRequest): string[] {
  return queries.flatMap(({ query }) => (query?.$case === 'organizationIdQuery' ? [query.value.organizationId] : []))
}

/** The organization to search in; undefined for all of them. */
function scopeOf(request: SearchUsersRequest, call: Call): string | undefined {
  return namedOrganizations(request)[0] ?? (request.allOrganizations ? undefined : call.organizationId)
}

function orderOf({ sql }: Context, { sortingColumn, descending }: SearchUsersRequest): Order {
  const by = (column: Order['by'][number]['column'], type: Order['by'][number]['type'] = 'text'): Order => ({
    by: [
      { column, type },
      { column: sortingColumn === UserFieldName.USER_FIELD_NAME_EMAIL ? sql`e.user_id` : sql`u.user_id`, type: 'text' },
    ],
    descending,
  })
  switch (sortingColumn) {
    case UserFieldName.USER_FIELD_NAME_USER_NAME:
      return by(sql`u.user_name`)
    case UserFieldName.USER_FIELD_NAME_FIRST_NAME:
      return by(sql`u.first_name`)
    case UserFieldName.USER_FIELD_NAME_LAST_NAME:
      return by(sql`u.last_name`)
    case UserFieldName.USER_FIELD_NAME_DISPLAY_NAME:
      return by(sql`u.display_name`)
    case UserFieldName.USER_FIELD_NAME_EMAIL:
      return by(sql`e.email`)
    default:
      return by(sql`u.created_at`, 'timestamptz')
  }
}

// When the user of the row `u` signed in last, as a column. The ids of records are in the order of their times.
function selectLastSignIn(sql: Sql): Fragment {
  return sql`(
    select r.at from sign_in_records r where r.user_id = u.user_id collate "default" and not r.partial order by r.id desc limit 1
  )`
}
