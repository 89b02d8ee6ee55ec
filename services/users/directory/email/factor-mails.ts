import { MailKind } from '#gen/roster/users/v1/internal_service'
import { orUnavailable, type Write } from '#lib/database/database'
import type { Use } from '#lib/eventstore/command'
import { countLimit } from '#lib/limits-hit'
import type { Context } from '../../context.ts'
import type { Human } from '../events/human.ts'
import { mailAddress } from './address.ts'
import { commonOf, toHuman } from './mail-content.ts'
import { endWithoutEvent, type KindOfMail } from './mail-kind.ts'
import { isNoticeDropped, mailUses } from './mail-uses.ts'

/** After that it comes too late to help. */
const lifetime = '3 days'

const numbers = {
  'factor-added': MailKind.MAIL_KIND_FACTOR_ADDED,
  'factor-removed': MailKind.MAIL_KIND_FACTOR_REMOVED,
  'recovery-codes-made': MailKind.MAIL_KIND_RECOVERY_CODES_MADE,
  'recovery-code-used': MailKind.MAIL_KIND_RECOVERY_CODE_USED,
  'factor-guessed': MailKind.MAIL_KIND_FACTOR_GUESSED,
}

export type FactorMail = keyof typeof numbers

/** Mails that tell a person what happened to the second factors of the account. */
export const factorMails = Object.fromEntries(
  Object.entries(numbers).map(([name, number]) => [name, kindOf(name, number)]),
) as Record<FactorMail, KindOfMail>

function kindOf(name: string, number: MailKind): KindOfMail {
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
      const url = new URL('/ui/account/sign-in', config.PUBLIC_URL).href
      return { email: mailAddress(human.email), code: '', url, ...times, ...commonOf(human) }
    }),
    end: endWithoutEvent(name),
  }
}

/** One of these mails, before it is known whether it has to be sent. `codeId`: a new one. */
export interface MailOfFactors {
  /** Keeps it. Only where the address is verified. */
  write: Write
  /** Of `write`, for where a statement decides. */
  row: { codeId: string; kind: FactorMail; userId: string; lifetime: string }
  announce(context: Pick<Context, 'sql' | 'announceMail' | 'log'>): Promise<void>
}

export function mailOfFactors(
  kind: FactorMail,
  { userId, organizationId, codeId }: { userId: string; organizationId: string; codeId: string },
): MailOfFactors {
  return {
    row: { codeId, kind, userId, lifetime },
    write: (sql) => sql`
      insert into unsent_mails (mail_id, user_id, kind, requested_at, expires_at)
      values (${codeId}, ${userId}, ${kind}, roster_now(), roster_now() + ${lifetime}::interval)
    `,
    // A failure is logged alone: the notifier finds the row later, and what it tells of has happened.
    async announce(context) {
      const [row] = await orUnavailable(context.sql<{ expiresAt: Date }[]>`
        select expires_at as "expiresAt" from unsent_mails where mail_id = ${codeId}
      `).catch((err: unknown) => {
        context.log.warn({ err }, 'a mail about second factors is not announced')
        return []
      })
      if (row) context.announceMail({ kind, codeId, userId, organizationId, expiresAt: row.expiresAt.toISOString() })
    },
  }
}

/** What stands beside a change that the person is told of. `isOwn`: no other user made it. */
export function telling(
  context: Pick<Context, 'config' | 'keys'>,
  mail: MailOfFactors,
  { human, organizationId, isOwn }: { human: Human; organizationId: string; isOwn: boolean },
): { writes: Write[]; uses: Use[] } {
  if (!human.isVerified) return { writes: [], uses: [] }
  return {
    writes: [mail.write],
    uses: mailUses(context, human.email, organizationId, isOwn ? 'own-password' : 'password'),
  }
}

/** Makes a change with its mail, and without where there were too many mails lately. */
export function toldOrNot<Answer>(change: (isTold: boolean) => Promise<Answer>): Promise<Answer> {
  return change(true).catch((error: unknown) => {
    if (!isNoticeDropped(error)) throw error
    countLimit(error)
    return change(false)
  })
}
