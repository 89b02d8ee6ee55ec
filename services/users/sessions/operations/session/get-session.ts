import type { GetSessionRequest, GetSessionResponse } from '#gen/roster/users/v1/session_service'
import { orUnavailable } from '#lib/database/database'
import type { Context } from '../../../context.ts'
import { checkedColumns, type CheckedRow, livingSessions, showChecked } from '../../checked-sessions.ts'
import { sessionNotFound } from '../../sessions.ts'
import type { User } from '../../../directory/events/user.ts'

export async function getSession(
  { sql, store }: Context,
  { sessionId }: GetSessionRequest,
): Promise<GetSessionResponse> {
  const [row] = await orUnavailable(sql<CheckedRow[]>`
    select ${checkedColumns(sql)} from ${livingSessions(sql, (table) => sql`${table}.session_id = ${sessionId}`)}
  `)
  const session = row && showChecked(row, await store.load<User>('user', row.userId))
  if (!session) throw sessionNotFound()
  return { session }
}
