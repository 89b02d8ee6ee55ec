import type { ListUserChangesRequest, ListUserChangesResponse } from '#gen/roster/users/v1/user_service'
import { orUnavailable, type Sql } from '#lib/database/database'
import { eventColumns } from '#lib/eventstore/event-page'
import type { StoredEvent } from '#lib/events/stored-event'
import { showChange } from '#lib/events/show-change'
import { holds } from '#lib/rpc/caller'
import { callerIn } from '#lib/rpc/caller-in'
import type { Call } from '#lib/rpc/headers'
import { cursorInvalid, readCursor, writeCursor } from '#lib/search/cursor'
import { runQueued } from '#lib/search/search-queue'
import { cutPage, defaultLimit } from '#lib/search/search'
import type { Context } from '../../../context.ts'
import { existing } from '../../states/user-state.ts'
import { codeMailType } from '../../events/code-mail.ts'
import { credentialEvents } from '../../events/credentials.ts'
import { noticeType } from '../../events/notice.ts'
import { passwordCodeType } from '../../events/password-code.ts'
import { signInType } from '../../events/sign-in.ts'
import { signInCodeType } from '../../events/sign-in-code.ts'
import type { User } from '../../events/user.ts'

// The aggregates that have the id of their user. Each is read backwards by its own sequence, and the sessions by
// position.
const aggregates = ['user', codeMailType, passwordCodeType, noticeType, signInType, signInCodeType, 'authentication']
const aboutCredentials = [...credentialEvents, 'machine.dpop.changed']
const theEnd = String(2n ** 63n - 1n)

export async function listUserChanges(
  { sql, keys, store, personal }: Context,
  request: ListUserChangesRequest,
  call: Call,
): Promise<ListUserChangesResponse> {
  const { userId } = request
  const user = await store.load<User>('user', userId)
  existing(user?.state)
  const asked = { method: 'ListUserChanges', request: { ...request, withTotal: false }, call }
  const places = readCursor(keys, asked) ?? [...aggregates, 'session'].map(() => theEnd)
  // The former release knows fewer.
  if (places.length !== aggregates.length + 1) throw cursorInvalid()
  const limit = request.limit || defaultLimit
  const read = await runQueued(
    sql,
    call,
    select(sql, userId, await hiddenFrom(call, userId, user!.organizationId), places, limit + 1),
  )
  const page = cutPage(read.slice(0, limit))
  const next = [...aggregates, 'session'].map((type, index) => {
    const last = page.findLast((event) => event.aggregate_type === type)
    return (type === 'session' ? last?.position : last?.sequence) ?? places[index]!
  })
  const changes = (await orUnavailable(personal.decryptEvents(sql, page))).map((row) => showChange('users', row))
  return { changes, nextCursor: page.length === read.length ? '' : writeCursor(keys, asked, next) }
}

interface Hidden {
  sessions: boolean
  credentials: boolean
}

/** What the caller may not read by the operations on sessions and credentials either. */
async function hiddenFrom(call: Call, userId: string, organizationId: string): Promise<Hidden> {
  const caller = await callerIn(call, organizationId)
  const isHidden = (permission: string) => caller.userId !== userId && !holds(caller, permission, organizationId)
  return { sessions: isHidden('session.read'), credentials: isHidden('user.credential.read') }
}

function select(sql: Sql, userId: string, hidden: Hidden, places: string[], number: number) {
  const columns = eventColumns(sql)
  const seen = (type: string) => {
    if (type === signInType || type === signInCodeType) return sql`and ${!hidden.sessions}`
    if (!hidden.credentials) return sql``
    return type === 'user' ? sql`and type <> all(${aboutCredentials}::text[])` : sql`and ${type !== 'authentication'}`
  }
  const ofAggregates = aggregates.map(
    (type, index) => sql`
      (
        select ${columns} from events
        where aggregate_type = ${type} and aggregate_id = ${userId} and sequence < ${places[index]!}
          ${seen(type)}
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
          and ${!hidden.sessions}
        order by position desc limit ${number}
      )
    ) changes
    order by position desc limit ${number}
  `
}
