import type { GetMailRequest, GetMailResponse } from '#gen/roster/notifier/v1/mail_service'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { type MailRow, selectMails, showMail } from '../ledger/mails.ts'
import { mailNotFound } from '../vocabulary.ts'

export async function getMail(
  { sql }: Context,
  { mailId }: GetMailRequest,
  { organizationId }: Call,
): Promise<GetMailResponse> {
  const [row] = await orUnavailable(sql<MailRow[]>`
    ${selectMails(sql)} and code_id = ${mailId} and organization_id = ${organizationId}
  `)
  if (!row) throw mailNotFound()
  return { mail: showMail(row) }
}
