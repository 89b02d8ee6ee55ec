import type {
  ListUnsentEmailCodesRequest,
  ListUnsentEmailCodesResponse,
  UnsentEmailCode,
} from '#gen/roster/users/v1/internal_service'
import { orUnavailable, readNow } from '#lib/database/database'
import type { Context } from '../../context.ts'
import { verificationMail } from '../../directory/email/verification-mail.ts'
import { numbers } from './mail-kinds.ts'

export async function listUnsentEmailCodes(
  { sql }: Context,
  { limit }: ListUnsentEmailCodesRequest,
): Promise<ListUnsentEmailCodesResponse> {
  const time = await orUnavailable(readNow(sql))
  // A row names an organization where there is no user yet. One of a later version may have a kind that is unknown here.
  const codes = await orUnavailable(sql<(Omit<UnsentEmailCode, 'kind'> & { kind: string })[]>`
    select user_id as "userId", mail_id as "codeId", expires_at as "expirationDate", of as "organizationId", kind
    from (
      select mails.*, coalesce(mails.organization_id, aggregates.organization_id) as of
      from (
        select user_id, mail_id, requested_at, expires_at, kind, organization_id from unsent_mails
        union all
        select user_id, code_id, requested_at, expires_at, ${verificationMail.name}, null from unsent_email_codes
      ) mails
      left join aggregates on type = 'user' and id = user_id
    ) unsent
    where of is not null and expires_at > roster_now() and kind = any(${Object.keys(numbers)})
    order by row_number() over (partition by of, organization_id is null order by requested_at), requested_at
    limit ${limit}
  `)
  return { codes: codes.map(({ kind, ...code }) => ({ ...code, kind: numbers[kind]! })), time }
}
