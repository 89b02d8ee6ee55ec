import {
  type ListUnsentEmailCodesRequest,
  type ListUnsentEmailCodesResponse,
  MailKind,
  type UnsentEmailCode,
} from '#gen/roster/users/v1/internal_service'
import { orUnavailable, readNow } from '#lib/database/database'
import type { Context } from '../context.ts'

export async function listUnsentEmailCodes(
  { sql }: Context,
  { limit }: ListUnsentEmailCodesRequest,
): Promise<ListUnsentEmailCodesResponse> {
  const time = await orUnavailable(readNow(sql))
  const codes = await orUnavailable(sql<(Omit<UnsentEmailCode, 'kind'> & { kind: keyof typeof kinds })[]>`
    select user_id as "userId", mail_id as "codeId", expires_at as "expirationDate", of as "organizationId", kind
    from (
      select user_id, mail_id, requested_at, expires_at, kind, organization_id as of from unsent_mails
      where kind = 'registration'
      union all
      select user_id, mail_id, requested_at, expires_at, kind, organization_id from (
        select user_id, mail_id, requested_at, expires_at, kind from unsent_mails
        union all
        select user_id, code_id, requested_at, expires_at, 'email-code' from unsent_email_codes
      ) of_users
      join aggregates on type = 'user' and id = user_id
    ) unsent
    where expires_at > roster_now()
    order by row_number() over (partition by of, kind = 'registration' order by requested_at), requested_at
    limit ${limit}
  `)
  return { codes: codes.map(({ kind, ...code }) => ({ ...code, kind: kinds[kind] })), time }
}

const kinds = {
  'email-code': MailKind.MAIL_KIND_EMAIL_CODE,
  'password-reset': MailKind.MAIL_KIND_PASSWORD_RESET,
  'email-changed': MailKind.MAIL_KIND_EMAIL_CHANGED,
  registration: MailKind.MAIL_KIND_REGISTRATION,
}
