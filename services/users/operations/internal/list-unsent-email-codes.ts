import type {
  ListUnsentEmailCodesRequest,
  ListUnsentEmailCodesResponse,
  UnsentEmailCode,
} from '#gen/roster/users/v1/internal_service'
import { orUnavailable } from '#lib/eventstore/database'
import type { Context } from '../../context.ts'

export async function listUnsentEmailCodes(
  { sql }: Context,
  { limit }: ListUnsentEmailCodesRequest,
): Promise<ListUnsentEmailCodesResponse> {
  const codes = await orUnavailable(sql<UnsentEmailCode[]>`
    select user_id as "userId", code_id as "codeId", expires_at as "expirationDate", organization_id as "organizationId"
    from unsent_email_codes join aggregates on type = 'user' and id = user_id
    where expires_at > now()
    order by row_number() over (partition by organization_id order by requested_at), requested_at
    limit ${limit}
  `)
  return { codes: [...codes] }
}
