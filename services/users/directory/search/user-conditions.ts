import type { SearchQuery } from '#gen/roster/users/v1/user_search'
import type { Violation } from '#lib/errors'
import type { Fragment, Sql } from '#lib/database/database'
import { textCondition } from '#lib/search/text-condition'
import { canonicalAddress } from '../email/address.ts'
import { hasFactorOf, hasSecondFactorOf } from './user-factors.ts'

const deepest = 5
const most = 50

/** The violations of queries that are too many, or nested too deep. */
export function checkQueries(queries: SearchQuery[]): Violation[] {
  const levels = [...levelsOf(queries, 1)]
  if (levels.length > most) return [{ field: 'queries', description: `must be at most ${most} in all` }]
  return levels.some((level) => level > deepest)
    ? [{ field: 'queries', description: `must be nested at most ${deepest} deep` }]
    : []
}

/** The condition that all queries make on the row `u` of found_users. Without an organization: in all of them. */
export function userConditions(sql: Sql, queries: SearchQuery[], organizationId: string | undefined): Fragment {
  const within = (table: Fragment): Fragment =>
    organizationId === undefined ? sql`true` : sql`${table}.organization_id = ${organizationId}`

  function all(conditions: SearchQuery[]): Fragment {
    return join(conditions.map(condition), (left, right) => sql`${left} and ${right}`) ?? sql`true`
  }

  // Where an address is one of the alternatives, no index serves both tables. So each alternative is found by itself.
  function any(conditions: SearchQuery[]): Fragment {
    const found = conditions.map(condition)
    if (!conditions.some(asksForAddress)) return sql`(${join(found, (left, right) => sql`${left} or ${right}`)!})`
    const ids = found.map((one) => sql`select u.user_id from found_users u where ${within(sql`u`)} and ${one}`)
    return sql`u.user_id in (${join(ids, (left, right) => sql`${left} union ${right}`)!})`
  }

  function ofAddress(conditionOnE: Fragment): Fragment {
    return sql`u.user_id in (select e.user_id from found_addresses e where ${within(sql`e`)} and ${conditionOnE})`
  }

  function condition({ query }: SearchQuery): Fragment {
    switch (query!.$case) {
      case 'userNameQuery':
        return compare('user_name', '{userName}', query.value.userName, query.value.method)
      case 'firstNameQuery':
        return compare('first_name', '{human,profile,firstName}', query.value.firstName, query.value.method)
      case 'lastNameQuery':
        return compare('last_name', '{human,profile,lastName}', query.value.lastName, query.value.method)
      case 'nickNameQuery':
        return compare('nick_name', '{human,profile,nickName}', query.value.nickName, query.value.method)
      case 'displayNameQuery': {
        const exact = sql`coalesce(${stored(sql`u`, '{machine,name}')}, ${stored(sql`u`, '{human,profile,displayName}')})`
        const { displayName, method } = query.value
        return textCondition(sql, { exact, canonical: sql`u.display_name` }, displayName, method)
      }
      case 'emailQuery': {
        const column = { exact: sql`coalesce(${stored(sql`e`, '{human,email}')}, '')`, canonical: sql`e.email` }
        return ofAddress(textCondition(sql, column, query.value.emailAddress, query.value.method, canonicalAddress))
      }
      case 'inUserEmailsQuery':
        return ofAddress(sql`e.email = any(${query.value.userEmails.map(canonicalAddress)}::text[])`)
      case 'inUserIdsQuery':
        return sql`u.user_id = any(${query.value.userIds}::text[])`
      case 'stateQuery':
        return sql`u.state = ${query.value.state}`
      case 'typeQuery':
        return sql`u.type = ${query.value.type}`
      case 'organizationIdQuery':
        return sql`u.organization_id = ${query.value.organizationId}`
      case 'creationDateQuery': {
        const { from, to } = query.value
        const since = from ? sql`u.created_at >= ${from}` : sql`true`
        return to ? sql`(${since} and u.created_at < ${to})` : since
      }
      case 'factorQuery':
        return hasFactorOf(sql, query.value.type, within(sql`f`))
      case 'secondFactorQuery':
        return hasSecondFactorOf(sql, within(sql`f`))
      case 'orQuery':
        return any(query.value.queries)
      case 'andQuery':
        return sql`(${all(query.value.queries)})`
      case 'notQuery':
        return sql`not (${condition(query.value.query!)})`
    }
  }

  function compare(column: string, path: string, text: string, method: Parameters<typeof textCondition>[3]): Fragment {
    const exact = sql`coalesce(${stored(sql`u`, path)}, '')`
    return textCondition(sql, { exact, canonical: sql`u.${sql(column)}` }, text, method)
  }

  // States are encrypted, so what is exact stands here too.
  function stored(table: Fragment, path: string): Fragment {
    return sql`${table}.exact #>> ${path}::text[]`
  }

  return all(queries)
}

function join(parts: Fragment[], both: (left: Fragment, right: Fragment) => Fragment): Fragment | undefined {
  return parts.length === 0 ? undefined : parts.reduce(both)
}

function asksForAddress(query: SearchQuery): boolean {
  const isAddress = query.query?.$case === 'emailQuery' || query.query?.$case === 'inUserEmailsQuery'
  return isAddress || innerQueries(query).some(asksForAddress)
}

// The level of each query.
function* levelsOf(queries: SearchQuery[], level: number): Generator<number> {
  for (const query of queries) {
    yield level
    yield* levelsOf(innerQueries(query), level + 1)
  }
}

function innerQueries({ query }: SearchQuery): SearchQuery[] {
  if (query?.$case === 'orQuery' || query?.$case === 'andQuery') return query.value.queries
  return query?.$case === 'notQuery' && query.value.query ? [query.value.query] : []
}
