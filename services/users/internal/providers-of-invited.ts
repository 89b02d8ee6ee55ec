import { randomUUID } from 'node:crypto'
import { MailKind } from '#gen/roster/users/v1/internal_service'
import type { Context } from '../context.ts'
import type { MailText } from '../directory/email/mail-kind.ts'
import { namesOf, waysOfUser } from '../pages/invitation/ways-to-join.ts'

/** Says in the mail of a user without a password, who is invited, by which identity providers the person will sign in. */
export async function withProviders(context: Context, userId: string, mail: MailText): Promise<MailText> {
  if (mail.kind !== MailKind.MAIL_KIND_INVITATION) return mail
  const { organizationId } = mail.from
  const call = { requestId: randomUUID(), deadline: Date.now() + 5000 }
  return { ...mail, providers: namesOf(await waysOfUser(context, { userId, organizationId }, call)) }
}
