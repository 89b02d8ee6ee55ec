import { TimestampQueryMethod } from '#gen/roster/object/v1/search'
import type { SearchSessionsRequest, SearchSessionsResponse } from '#gen/roster/users/v1/session_service'
import type { Fragment, Sql } from '#lib/database/database'
import type { Violation } from '#lib/errors'
import { evenUnreadable, type Existing } from '#lib/eventstore/aggregate'
import { holds } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { search } from '#lib/search/search'
import type { Context } from '../../../context.ts'
import { checkedColumns, type CheckedRow, livingSessions, showChecked } from '../../checked-sessions.ts'
import type { User } from '../../../directory/events/user.ts'

export const searchSessions = {
  check(_context: Context, { sessionIds, userId }: SearchSessionsRequest): Violation[] {
    if (sessionIds.length > 0 || userId !== '') return []
    return [{ field: 'sessionIds', description: 'must name sessions, or userId a user' }]
  },

  async handle(context: Context, request: SearchSessionsRequest, call: Call): Promise<SearchSessionsResponse> {
    const { sql, store } = context
    const { sessionIds, userId, creation } = request
    const found = (table: Fragment) => sql`
      ${isVisible(sql, table, call)}
      ${sessionIds.length > 0 ? sql`and ${table}.session_id = any(${sessionIds}::text[])` : sql``}
      ${userId === '' ? sql`` : sql`and ${table}.user_id = ${userId}`}
    `
    const { rows, nextCursor, total } = await search<CheckedRow>(context, {
      method: 'SearchSessions',
      request,
      call,
      columns: checkedColumns(sql),
      from: livingSessions(sql, found),
      where: creation ? isOfTime(sql, creation) : sql`true`,
      // The ids are UUIDs of version 7, which hold the time.
      order: { by: [{ column: sql`s.id collate "C"`, type: 'text' }], descending: request.descending },
    })
    const ids = [...new Set(rows.map((row) => row.userId))]
    // Loads of one moment share a statement.
    const loaded = await Promise.all(ids.map((id) => evenUnreadable(store.load<User>('user', id))))
    const users = new Map(loaded.flatMap((user) => (user?.state ? [[user.id, user as Existing<User>]] : [])))
    const sessions = rows.flatMap((row) => showChecked(row, users.get(row.userId)) ?? [])
    return { sessions, nextCursor, total }
  },
}

function isVisible(sql: Sql, table: Fragment, { caller, organizationId }: Call): Fragment {
  if (holds(caller, 'session.read')) return sql`true`
  const isOwn = sql`${table}.user_id = ${caller.userId}`
  if (!holds(caller, 'session.read', organizationId)) return isOwn
  return sql`(${isOwn} or ${table}.organization_id = ${organizationId})`
}

function isOfTime(sql: Sql, { creationDate, method }: NonNullable<SearchSessionsRequest['creation']>): Fragment {
  // Answers hold whole milliseconds.
  return sql`date_trunc('milliseconds', s.created_at) ${comparison(sql, method)} ${creationDate!}`
}

function comparison(sql: Sql, method: TimestampQueryMethod): Fragment {
  switch (method) {
    case TimestampQueryMethod.TIMESTAMP_QUERY_METHOD_GREATER:
      return sql`>`
    case TimestampQueryMethod.TIMESTAMP_QUERY_METHOD_GREATER_OR_EQUALS:
      return sql`>=`
    case TimestampQueryMethod.TIMESTAMP_QUERY_METHOD_LESS:
      return sql`<`
    case TimestampQueryMethod.TIMESTAMP_QUERY_METHOD_LESS_OR_EQUALS:
      return sql`<=`
    default:
      return sql`=`
  }
}
