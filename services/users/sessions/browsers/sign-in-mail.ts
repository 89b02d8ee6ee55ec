import { MailKind } from '#gen/roster/users/v1/internal_service'
import { orUnavailable } from '#lib/database/database'
import { mailAddress } from '../../directory/email/address.ts'
import { commonOf, toHuman } from '../../directory/email/mail-content.ts'
import { endWithoutEvent, type KindOfMail } from '../../directory/email/mail-kind.ts'

export const kind = 'new-sign-in'

/** After that it comes too late to help. Milliseconds. */
export const lifetime = 3 * 86_400_000

/** Tells a person that they signed in with a browser that they did not use before. */
export const signInMail: KindOfMail = {
  number: MailKind.MAIL_KIND_NEW_SIGN_IN,
  name: kind,
  content: toHuman(async ({ sql, config }, user, human, mailId) => {
    const [mail] = await orUnavailable(sql<{ requestedAt: Date; expiresAt: Date }[]>`
      select requested_at as "requestedAt", expires_at as "expiresAt" from unsent_mails
      where mail_id = ${mailId} and user_id = ${user.id} and kind = ${kind} and expires_at > roster_now()
    `)
    if (!mail || !human.isVerified) return undefined
    const times = { expirationDate: mail.expiresAt, changeDate: mail.requestedAt }
    const url = new URL('/ui/account/activity', config.PUBLIC_URL).href
    return { email: mailAddress(human.email), code: '', url, ...times, ...commonOf(human) }
  }),
  end: endWithoutEvent(kind),
}
