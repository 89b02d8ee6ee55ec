import type { ListUnsentEmailCodesRequest, ListUnsentEmailCodesResponse } from '#gen/roster/users/v1/internal_service'
import { orUnavailable } from '#lib/eventstore/database'
import type { Context } from '../context.ts'

export async function listUnsentEmailCodes(
  { sql }: Context,
  { limit }: ListUnsentEmailCodesRequest,
): Promise<ListUnsentEmailCodesResponse> {
  const codes = await orUnavailable(sql<{ userId: string; codeId: string; expirationDate: Date }[]>`
    select user_id as "userId", code_id as "codeId", expires_at as "expirationDate"
    from unsent_email_codes
    where expires_at > now()
    order by requested_at
    limit ${limit}
  `)
  return { codes: [...codes] }
}
