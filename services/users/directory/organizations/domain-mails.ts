import { MailKind } from '#gen/roster/users/v1/internal_service'
import { orUnavailable } from '#lib/database/database'
import type { Context } from '../../context.ts'
import { mailAddress } from '../email/address.ts'
import { commonOf, toHuman } from '../email/mail-content.ts'
import { endWithoutEvent, type KindOfMail } from '../email/mail-kind.ts'
import { lookupById } from './organization-domain.ts'

/** Tells owners that the records of verified domains are missing. */
export const domainLostMail = mailOf('domain-lost', MailKind.MAIL_KIND_DOMAIN_LOST, true)

/** Tells owners that domains are not verified any more. */
export const domainUnverifiedMail = mailOf('domain-unverified', MailKind.MAIL_KIND_DOMAIN_UNVERIFIED, false)

/** An answer of grants in milliseconds: the mail waits for it, and comes again. */
const answerWithin = 5000

// It names all domains of which that is so when it is sent, and is not sent where it is not so of any by then.
function mailOf(name: string, number: MailKind, isVerified: boolean): KindOfMail {
  return {
    number,
    name,
    content: toHuman(async (context, user, human, mailId) => {
      const mail = await findMail(context, name, user.id, mailId)
      if (!mail || !human.isVerified) return undefined
      const call = { requestId: '', deadline: Date.now() + answerWithin }
      const { lostDomains = [] } = (await lookupById(context.grants, mail.organizationId, call)) ?? {}
      const meant = lostDomains.filter(({ verifiedUntil }) => (verifiedUntil !== undefined) === isVerified)
      if (meant.length === 0) return undefined
      const ends = meant.flatMap(({ verifiedUntil }) => verifiedUntil?.getTime() ?? [])
      return {
        ...commonOf(human),
        from: { organizationId: mail.organizationId },
        email: mailAddress(human.email),
        code: '',
        url: '',
        expirationDate: ends.length > 0 ? new Date(Math.min(...ends)) : mail.expiresAt,
        changeDate: mail.requestedAt,
        domains: meant.map(({ domain }) => domain).join(', '),
      }
    }),
    end: endWithoutEvent(name),
  }
}

async function findMail({ sql }: Pick<Context, 'sql'>, kind: string, userId: string, mailId: string) {
  const [mail] = await orUnavailable(sql<{ requestedAt: Date; expiresAt: Date; organizationId: string }[]>`
    select requested_at as "requestedAt", expires_at as "expiresAt", organization_id as "organizationId" from unsent_mails
    where mail_id = ${mailId} and user_id = ${userId} and kind = ${kind} and expires_at > roster_now()
  `)
  return mail
}
