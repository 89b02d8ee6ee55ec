import { randomUUID } from 'node:crypto'
import { MailKind } from '#gen/roster/users/v1/internal_service'
import { orUnavailable, type Statement } from '#lib/database/database'
import type { MailWithoutEvent } from '#lib/events/hints'
import type { Context } from '../../../context.ts'
import { mailAddress } from '../../email/address.ts'
import { withoutInviter } from '../../email/mail-content.ts'
import type { KindOfMail } from '../../email/mail-kind.ts'
import { keepUnsent } from '../../email/unsent-mails.ts'
import type { Human } from '../../events/human.ts'

const kind = 'account-removed'
const purpose = 'secret-detail'

/** An address must not outlive its person for longer. Milliseconds. */
const lifetime = 86_400_000

/** All that is left of the person, encrypted, until the mail is sent: a row of `secrets`, which does not name the user. */
interface Removal {
  email: string
  displayName: string
  preferredLanguage: string
  removedAt: string
  /** Missing in rows of earlier versions. */
  organizationId?: string
}

/** Tells a person that they removed their account: somebody else may have done it in their name. */
export const removalMail: KindOfMail = {
  number: MailKind.MAIL_KIND_ACCOUNT_REMOVED,
  name: kind,
  async content({ sql, keys }, { codeId }) {
    const [row] = await orUnavailable(sql<{ detail: Buffer; expiresAt: Date }[]>`
      select detail, expires_at as "expiresAt" from secrets
      where kind = ${kind} and id = ${codeId} and expires_at > roster_now()
    `)
    if (!row) return undefined
    const {
      email,
      removedAt,
      organizationId = '',
      ...person
    } = JSON.parse(keys.decrypt(purpose, row.detail)) as Removal
    const times = { expirationDate: row.expiresAt, changeDate: new Date(removedAt) }
    const kindOfText = MailKind.MAIL_KIND_UNSPECIFIED
    const from = { organizationId }
    return {
      from,
      ...withoutInviter,
      ...person,
      ...times,
      email: mailAddress(email),
      code: '',
      url: '',
      kind: kindOfText,
    }
  },
  async end({ sql }, { codeId }) {
    await orUnavailable(sql`
      with sent as (delete from unsent_mails where mail_id = ${codeId} and kind = ${kind})
      delete from secrets where kind = ${kind} and id = ${codeId}
    `)
  },
}

/** The mail to a person who removes themselves, and what keeps it; undefined where the address was never verified. */
export function keepRemovalMail(
  { keys }: Pick<Context, 'keys'>,
  human: Human | undefined,
  organizationId: string,
  now: Date,
): { mail: MailWithoutEvent; writes: Statement[] } | undefined {
  if (!human?.isVerified) return undefined
  const codeId = randomUUID()
  const expiresAt = new Date(now.getTime() + lifetime).toISOString()
  // The user is no more, so the mail has an id in place of the user's.
  const mail = { kind, codeId, userId: codeId, organizationId, expiresAt }
  const { displayName, preferredLanguage } = human.profile
  const removedAt = now.toISOString()
  const removal: Removal = { email: human.email, displayName, preferredLanguage, removedAt, organizationId }
  const detail = keys.encrypt(purpose, JSON.stringify(removal))
  return {
    mail,
    writes: [
      (sql) => sql`
        insert into secrets (kind, id, user_id, expires_at, detail) values (${kind}, ${codeId}, '', ${expiresAt}, ${detail})
      `,
      keepUnsent(mail, now),
    ],
  }
}
