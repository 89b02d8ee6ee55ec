import type { SearchMailsRequest, SearchMailsResponse } from '#gen/roster/notifier/v1/mail_service'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { isInState, type MailRow, selectMails, showMail } from '../ledger/mails.ts'

const defaultLimit = 100

export async function searchMails(
  { sql }: Context,
  request: SearchMailsRequest,
  call: Call,
): Promise<SearchMailsResponse> {
  const { userId, userIds, cursor } = request
  const limit = request.limit || defaultLimit
  const state = isInState(sql, request.state)
  const rows = await orUnavailable(sql<MailRow[]>`
    ${selectMails(sql)} and organization_id = ${call.organizationId}
      ${userId ? sql`and user_id = ${userId}` : sql``}
      ${userIds.length > 0 ? sql`and user_id = any(${userIds})` : sql``}
      ${state ? sql`and ${state}` : sql``}
      ${cursor ? sql`and position < ${cursor}` : sql``}
    order by position desc
    limit ${limit + 1}
  `)
  const page = rows.slice(0, limit)
  return { mails: page.map(showMail), nextCursor: rows.length > limit ? page.at(-1)!.position : '' }
}
