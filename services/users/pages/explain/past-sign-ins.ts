import { orUnavailable, type Sql } from '#lib/database/database'
import { eventColumns } from '#lib/eventstore/event-page'
import type { StoredEvent } from '#lib/events/stored-event'
import type { Call } from '#lib/rpc/headers'
import { runQueued } from '#lib/search/search-queue'
import { authorizationType } from '../../openid/events/authorization.ts'

/** Events that are shown of an object, at most. */
const mostShown = 20

/** What happened in some sign-ins of a user to an application, and where earlier ones begin. */
export interface PastSignIns {
  events: StoredEvent[]
  /** Undefined where there are no earlier ones. */
  next: string | undefined
}

/** The events of the newest sign-ins before a position, and of their sessions. UNAVAILABLE; errors of `runQueued`. */
export async function findPastSignIns(
  sql: Sql,
  { userId, applicationId }: { userId: string; applicationId: string },
  before: string | undefined,
  limit: number,
  call: Call,
): Promise<PastSignIns> {
  const granted = await runQueued(
    sql,
    call,
    sql<{ position: string; id: string; sessionId: string }[]>`
      select position::text, aggregate_id as id, payload ->> 'sessionId' as "sessionId" from events
      where aggregate_type = ${authorizationType} and type = 'granted'
        and payload ->> 'userId' = ${userId} and payload ->> 'applicationId' = ${applicationId}
        ${before === undefined ? sql`` : sql`and position < ${before}`}
      order by events.position desc limit ${limit + 1}
    `,
  )
  const page = granted.slice(0, limit)
  const ofSessions = [...new Set(page.map(({ sessionId }) => sessionId))].map((id) => ({ type: 'session', id }))
  const objects = [...page.map(({ id }) => ({ type: authorizationType, id })), ...ofSessions]
  const events = await orUnavailable(sql<StoredEvent[]>`
    select shown.* from unnest(${objects.map(({ type }) => type)}::text[], ${objects.map(({ id }) => id)}::text[])
      as object (type, id)
    cross join lateral (
      select ${eventColumns(sql)} from events
      where aggregate_type = object.type and aggregate_id = object.id
        -- Other codes of a session went to other applications.
        and (object.type <> 'session' or type <> 'code.refused' or payload ->> 'authorizationId' = any(${page.map(({ id }) => id)}))
      order by sequence desc limit ${mostShown}
    ) shown
    order by shown.position desc
  `)
  return { events, next: granted.length > limit ? page.at(-1)!.position : undefined }
}
