import { MailKind } from '#gen/roster/users/v1/internal_service'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision, Use } from '#lib/eventstore/command'
import { orUnavailable, type Write } from '#lib/database/database'
import { eventColumns } from '#lib/eventstore/event-page'
import type { StoredEvent } from '#lib/events/stored-event'
import type { Context } from '../../context.ts'
import { type Notices, noticeType } from '../events/notice.ts'
import type { User, UserEvent } from '../events/user.ts'
import { mailAddress, sameAddress } from './address.ts'
import { mailUses } from './mail-uses.ts'
import { commonOf, toHuman } from './mail-content.ts'
import { canRecover } from './can-recover.ts'
import { endByEvent, type KindOfMail } from './mail-kind.ts'
import { takeBackLink } from './take-back-link.ts'
import { keepUnsent } from './unsent-mails.ts'

// Milliseconds after which a notice comes too late to help.
const lifetime = 3 * 86_400_000

/** The notice that the address was changed. It goes to the former one. */
export const noticeMail: KindOfMail = {
  number: MailKind.MAIL_KIND_EMAIL_CHANGED,
  name: 'email-changed',
  content: toHuman(async (context, user, human, noticeId) => {
    const notice = await findNotice(context, user.id, noticeId)
    if (!notice) return undefined
    const times = { expirationDate: notice.expiresAt, changeDate: notice.requestedAt }
    const takeBack = human.takeBacks?.find((one) => one.noticeId === noticeId)
    const isOpen = takeBack && Date.parse(takeBack.until) > user.readAt.getTime()
    const common = { email: mailAddress(notice.address), code: '', ...times, ...commonOf(human) }
    if (!isOpen) return { ...common, url: '' }
    const expirationDate = new Date(takeBack.until)
    const kind = MailKind.MAIL_KIND_EMAIL_CHANGED_TAKE_BACK
    return { ...common, expirationDate, kind, url: takeBackLink(context, user, noticeId) }
  }),
  end: endByEvent<Notices>(
    noticeType,
    'noticeId',
    (notices, user, noticeId) => user !== undefined && !notices?.settled.includes(noticeId),
  ),
}

export function projectNotices({ state }: Aggregate<Notices>): Write[] {
  const last = state?.settled.at(-1)
  return last === undefined ? [] : [(sql) => sql`delete from unsent_mails where mail_id = ${last}`]
}

/** A notice to a former address: its event, its row and the uses of its mail. */
export interface Notice {
  event: UserEvent
  write: Write
  uses: Use[]
}

/** The same decision, with the notice. */
export function withNotice<Answer>(
  decision: Decision<UserEvent, Answer>,
  notice: Notice | undefined,
): Decision<UserEvent, Answer> {
  if (!notice) return decision
  const { events, uses = [], writes = [] } = decision
  return {
    ...decision,
    events: [...events, notice.event],
    uses: [...uses, ...notice.uses],
    writes: [...writes, notice.write],
  }
}

/**
 * The notice to the present address of its change; undefined where the address was never verified, or stays.
 * Notices are counted apart from other mails: no one can use up the limit of a user's notices beforehand. Where
 * there were too many, the error is one of `isNoticeDropped`. `isOwn`: the user changes it. `hasLink`: whoever has the
 * former address, and could recover the account by it, can take that back.
 */
export function requestNotice(
  context: Pick<Context, 'config' | 'keys'>,
  { id, organizationId, state }: Pick<Aggregate<User>, 'id' | 'organizationId' | 'state'>,
  email: string,
  { noticeId, isOwn, hasLink }: { noticeId: string; isOwn: boolean; hasLink: boolean },
  now: Date,
): Notice | undefined {
  const human = state?.human
  if (!human?.isVerified || sameAddress(human.email, email)) return undefined
  const expiresAt = new Date(now.getTime() + lifetime).toISOString()
  // Only who could recover the account by the former address: a thief's own one could not yet.
  const mayTakeBack = hasLink && canRecover(human, context.config, now)
  const seconds = mayTakeBack ? context.config.PASSWORD_RESET_AFTER_EMAIL_CHANGE : 0
  const takeBackUntil = new Date(now.getTime() + seconds * 1000).toISOString()
  const setBy = human.emailSetBy !== undefined && { setBy: human.emailSetBy }
  const takeBack = seconds > 0 && { takeBackUntil, email: human.email, ...setBy }
  return {
    event: { type: 'email.notice.requested', payload: { noticeId, expiresAt, ...takeBack } },
    // The address is in the events alone.
    write: keepUnsent({ kind: noticeMail.name, codeId: noticeId, userId: id, expiresAt }, now),
    uses: mailUses(context, human.email, organizationId, isOwn ? 'own-notice' : 'notice'),
  }
}

// Undefined where the notice is sent or over.
async function findNotice(
  context: Context,
  userId: string,
  noticeId: string,
): Promise<{ address: string; expiresAt: Date; requestedAt: Date } | undefined> {
  const [notice] = await orUnavailable(context.sql<{ expiresAt: Date; requestedAt: Date }[]>`
    select expires_at as "expiresAt", requested_at as "requestedAt" from unsent_mails
    where mail_id = ${noticeId} and user_id = ${userId} and kind = ${noticeMail.name} and expires_at > roster_now()
  `)
  if (!notice) return undefined
  const address = await findFormerAddress(context, userId, noticeId)
  return address === undefined ? undefined : { ...notice, address }
}

// The notice follows its change, so the address before that is the last but one.
async function findFormerAddress(
  { sql, personal }: Context,
  userId: string,
  noticeId: string,
): Promise<string | undefined> {
  const rows = await orUnavailable(sql<StoredEvent[]>`
    select ${eventColumns(sql)} from events
    where aggregate_type = 'user' and aggregate_id = ${userId} and type in ('human.added', 'email.changed')
      and sequence < (
        select sequence from events where aggregate_type = 'user' and aggregate_id = ${userId}
          and type = 'email.notice.requested' and payload ->> 'noticeId' = ${noticeId}
      )
    order by events.sequence desc limit 2
  `)
  const changes = await orUnavailable(personal.decryptEvents(sql, rows))
  const former: { email?: string } | undefined = changes[1]?.payload
  return former?.email
}
