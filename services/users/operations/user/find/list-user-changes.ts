import type { Event } from '#gen/roster/feed/v1/feed'
import type { ListUserChangesRequest, ListUserChangesResponse } from '#gen/roster/users/v1/user_service'
import { orUnavailable, type Sql } from '#lib/eventstore/database'
import { eventColumns } from '#lib/eventstore/feed-rows'
import { describeEnvelope, describeEvent } from '#lib/events/cloud-event'
import type { StoredEvent } from '#lib/events/stored-event'
import type { Call } from '#lib/rpc/headers'
import { readCursor, writeCursor } from '#lib/search/cursor'
import { cutPage, defaultLimit } from '#lib/search/search'
import type { Context } from '../../../context.ts'
import { existing } from '../../../states/user-state.ts'
import { codeMailType } from '../../../vocabulary/code-mail.ts'
import { noticeType } from '../../../vocabulary/notice.ts'
import { passwordCodeType } from '../../../vocabulary/password-code.ts'
import type { User } from '../../../vocabulary/user.ts'

// The aggregates that have the id of their user. Each is read backwards by its own sequence, and the sessions by position.
const aggregates = ['user', codeMailType, passwordCodeType, noticeType, 'authentication']
const theEnd = String(2n ** 63n - 1n)

export async function listUserChanges(
  { sql, keys, store }: Context,
  request: ListUserChangesRequest,
  call: Call,
): Promise<ListUserChangesResponse> {
  const { userId } = request
  existing((await store.load<User>('user', userId))?.state)
  const asked = { method: 'ListUserChanges', request: { ...request, withTotal: false }, call }
  const places = readCursor(keys, asked) ?? [...aggregates, 'session'].map(() => theEnd)
  const limit = request.limit || defaultLimit
  const read = await orUnavailable(select(sql, userId, places, limit + 1))
  const page = cutPage(read.slice(0, limit))
  const next = [...aggregates, 'session'].map((type, index) => {
    const last = page.findLast((event) => event.aggregate_type === type)
    return (type === 'session' ? last?.position : last?.sequence) ?? places[index]!
  })
  return { changes: page.map(show), nextCursor: page.length === read.length ? '' : writeCursor(keys, asked, next) }
}

function select(sql: Sql, userId: string, places: string[], number: number) {
  const columns = eventColumns(sql)
  const ofAggregates = aggregates.map(
    (type, index) => sql`
      (
        select ${columns} from events
        where aggregate_type = ${type} and aggregate_id = ${userId} and sequence < ${places[index]!}
        order by sequence desc limit ${number}
      )
      union all
    `,
  )
  return sql<StoredEvent[]>`
    select * from (
      ${ofAggregates.reduce((all, one) => sql`${all} ${one}`)}
      (
        select ${columns} from events
        where aggregate_type = 'session' and payload ->> 'userId' = ${userId} and position < ${places.at(-1)!}
        order by position desc limit ${number}
      )
    ) changes
    order by position desc limit ${number}
  `
}

function show(row: StoredEvent): Event {
  const time = row.created_at
  try {
    return { ...describeEvent('users', row), dataOmitted: '', time }
  } catch {
    // One that proto/ does not know hides no other.
    return { ...describeEnvelope('users', row), data: undefined, dataOmitted: 'unreadable', time }
  }
}
