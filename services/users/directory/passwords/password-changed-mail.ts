import { MailKind } from '#gen/roster/users/v1/internal_service'
import { orUnavailable } from '#lib/database/database'
import type { Use } from '#lib/eventstore/command'
import type { Context } from '../../context.ts'
import { mailAddress } from '../email/address.ts'
import { commonOf, toHuman } from '../email/mail-content.ts'
import { endWithoutEvent, type KindOfMail } from '../email/mail-kind.ts'
import { pageLink } from '../email/page-link.ts'
import { mailUses } from '../email/mail-uses.ts'
import type { Human } from '../events/human.ts'

export const kind = 'password-changed'

/** After that it comes too late to help. Milliseconds. */
export const lifetime = 3 * 86_400_000

/** Tells a person that the password was changed. */
export const passwordChangedMail: KindOfMail = {
  number: MailKind.MAIL_KIND_PASSWORD_CHANGED,
  name: kind,
  content: toHuman(async ({ sql, config }, user, human, mailId) => {
    const [mail] = await orUnavailable(sql<{ requestedAt: Date; expiresAt: Date }[]>`
      select requested_at as "requestedAt", expires_at as "expiresAt" from unsent_mails
      where mail_id = ${mailId} and user_id = ${user.id} and kind = ${kind} and expires_at > roster_now()
    `)
    if (!mail || !human.isVerified) return undefined
    const times = { expirationDate: mail.expiresAt, changeDate: mail.requestedAt }
    const url = pageLink(config, '/ui/forgot-password', user.organizationId)
    return { email: mailAddress(human.email), code: '', url, ...times, ...commonOf(human) }
  }),
  end: endWithoutEvent(kind),
}

/** Where there were too many, the error is one of `isNoticeDropped`. `isOwn`: no other user set the password. */
export function usesOf(
  context: Pick<Context, 'config' | 'keys'>,
  { email }: Human,
  organizationId: string,
  isOwn: boolean,
): Use[] {
  return mailUses(context, email, organizationId, isOwn ? 'own-password' : 'password')
}
