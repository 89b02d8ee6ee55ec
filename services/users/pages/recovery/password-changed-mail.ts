import { MailKind } from '#gen/roster/users/v1/internal_service'
import { orUnavailable } from '#lib/database/database'
import { mailAddress } from '../../directory/email/address.ts'
import { commonOf, toHuman } from '../../directory/email/mail-content.ts'
import { endWithoutEvent, type KindOfMail } from '../../directory/email/mail-kind.ts'
import { kind } from '../../directory/passwords/password-changed-mail.ts'
import { loadLoginPolicy } from '../../sessions/login-policy/load-login-policy.ts'
import { recoveryPage } from '../../sessions/login-policy/recovery-page.ts'

/** Tells a person that the password was changed. */
export const passwordChangedMail: KindOfMail = {
  number: MailKind.MAIL_KIND_PASSWORD_CHANGED,
  name: kind,
  content: toHuman(async (context, user, human, mailId) => {
    const [mail] = await orUnavailable(context.sql<{ requestedAt: Date; expiresAt: Date }[]>`
      select requested_at as "requestedAt", expires_at as "expiresAt" from unsent_mails
      where mail_id = ${mailId} and user_id = ${user.id} and kind = ${kind} and expires_at > roster_now()
    `)
    if (!mail || !human.isVerified) return undefined
    const times = { expirationDate: mail.expiresAt, changeDate: mail.requestedAt }
    const url = recoveryPage(context, await loadLoginPolicy(context, user.organizationId), user.organizationId)
    return { email: mailAddress(human.email), code: '', url, ...times, ...commonOf(human) }
  }),
  end: endWithoutEvent(kind),
}
