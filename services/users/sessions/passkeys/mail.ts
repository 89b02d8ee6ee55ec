import { MailKind } from '#gen/roster/users/v1/internal_service'
import { orUnavailable, type Write } from '#lib/database/database'
import type { Use } from '#lib/eventstore/command'
import type { MailWithoutEvent } from '#lib/events/hints'
import { countLimit } from '#lib/limits-hit'
import type { Context } from '../../context.ts'
import { mailAddress } from '../../directory/email/address.ts'
import { commonOf, toHuman } from '../../directory/email/mail-content.ts'
import { endWithoutEvent, type KindOfMail } from '../../directory/email/mail-kind.ts'
import { isNoticeDropped, mailUses } from '../../directory/email/mail-uses.ts'
import { keepUnsent } from '../../directory/email/unsent-mails.ts'
import type { Human } from '../../directory/events/human.ts'

/** After that it comes too late to help. Milliseconds. */
const lifetime = 3 * 86_400_000

/** What happened to a passkey; `linked`: an identity provider signs the person in from now on. */
type Change = 'added' | 'renamed' | 'removed' | 'linked'

const mails: Record<Change, KindOfMail> = {
  added: mailOf('passkey-added', MailKind.MAIL_KIND_PASSKEY_ADDED),
  renamed: mailOf('passkey-renamed', MailKind.MAIL_KIND_PASSKEY_RENAMED),
  removed: mailOf('passkey-removed', MailKind.MAIL_KIND_PASSKEY_REMOVED),
  linked: mailOf('provider-linked', MailKind.MAIL_KIND_PROVIDER_LINKED, '/ui/account/providers'),
}

export const {
  added: passkeyAddedMail,
  renamed: passkeyRenamedMail,
  removed: passkeyRemovedMail,
  linked: providerLinkedMail,
} = mails

// Tells a person of the change of what signs them in.
function mailOf(name: string, number: MailKind, page = '/ui/account/passkeys'): KindOfMail {
  return {
    number,
    name,
    content: toHuman(async ({ sql, config }, user, human, mailId) => {
      const [mail] = await orUnavailable(sql<{ requestedAt: Date; expiresAt: Date }[]>`
        select requested_at as "requestedAt", expires_at as "expiresAt" from unsent_mails
        where mail_id = ${mailId} and user_id = ${user.id} and kind = ${name} and expires_at > roster_now()
      `)
      if (!mail || !human.isVerified) return undefined
      const times = { expirationDate: mail.expiresAt, changeDate: mail.requestedAt }
      const url = new URL(page, config.PUBLIC_URL).href
      return { email: mailAddress(human.email), code: '', url, ...times, ...commonOf(human) }
    }),
    end: endWithoutEvent(name),
  }
}

export interface Notice {
  mail: MailWithoutEvent
  writes: Write[]
  uses: Use[]
}

/** The mail that tells of a change; undefined where the address is not verified. `isOwn`: the user changed it. */
export function noticeOf(
  context: Pick<Context, 'config' | 'keys'>,
  change: Change,
  { email, isVerified }: Human,
  { userId, organizationId, mailId, isOwn }: { userId: string; organizationId: string; mailId: string; isOwn: boolean },
  now: Date,
): Notice | undefined {
  if (!isVerified) return undefined
  const expiresAt = new Date(now.getTime() + lifetime).toISOString()
  const mail = { kind: mails[change].name, codeId: mailId, userId, expiresAt, organizationId }
  return {
    mail,
    writes: [keepUnsent({ kind: mail.kind, codeId: mailId, userId, expiresAt }, now)],
    uses: mailUses(context, email, organizationId, isOwn ? 'own-passkey' : 'passkey'),
  }
}

/**
 * Stores a change, with its mail. Where there were too many, somebody else's change is stored without: it must not fail
 * by what others did. That of the user waits: a thief's would be silent.
 */
export async function withoutNotice<T>(store: (isTold: boolean) => Promise<T>, isOwn: boolean): Promise<T> {
  return store(true).catch((error: unknown) => {
    if (!isNoticeDropped(error) || isOwn) throw error
    countLimit(error)
    return store(false)
  })
}

export function settleNotice(context: Pick<Context, 'announceMail'>, notice: Notice | undefined): void {
  if (notice) context.announceMail(notice.mail)
}
