import { v7 as uuid } from 'uuid'
import type { Event } from '#gen/roster/feed/v1/feed'
import type { MailJob } from '../mails/queue/mail-queue.ts'
import type { MailName } from '../mails/mail-kinds.ts'

/**
 * Reads the fate of mails from users' events, in order: ids and times, no address. Also reads which users are to be
 * erased. `take_in` of the schema has the effect of each row.
 */
export function mailRows(events: Event[]) {
  return events.flatMap((event) => {
    const meaning = meanings[event.type]
    if (!aggregateTypes.has(event.aggregateType) || !meaning) return []
    const { what, drops = [] } = meaning
    const user = {
      what,
      drops,
      event_type: event.type,
      user_id: event.aggregateId,
      at: event.time,
      forget_at: event.data?.['forgetAt'] as string | undefined,
    }
    if (what === 'dropped') return [user]
    // Without its data, the event does not say which code it means.
    if (event.data === undefined) return []
    const { noticeId, codeId = noticeId, expiresAt, failure } = event.data as Record<string, string | undefined>
    return [
      {
        ...user,
        id: uuid(),
        organization_id: event.organizationId,
        event_id: event.id,
        code_id: codeId,
        expires_at: expiresAt,
        failure,
      },
    ]
  })
}

// How mails ended is an event of aggregates of their own, with the user's id, and of the user by earlier versions.
const aggregateTypes = new Set(['user', 'user.email.code', 'user.password.code', 'user.email.notice'])

/** A code is dead after so many wrong tries. */
export const mostWrongTries = 5

const emailCode = 'roster.user.email.code.requested.v1'
const passwordCode = 'roster.user.password.code.requested.v1'
const notice = 'roster.user.email.notice.requested.v1'
const removed = 'roster.user.removed.v1'

/** `drops`: queued mails of the user that were asked for by these events, and are not to be sent any more. */
interface Meaning {
  what: 'requested' | 'sent' | 'failed' | 'rejected' | 'dropped'
  drops?: string[]
}

const meanings: Record<string, Meaning> = {
  [emailCode]: { what: 'requested', drops: [emailCode] },
  'roster.user.email.code.sent.v1': { what: 'sent' },
  'roster.user.email.code.failed.v1': { what: 'failed' },
  'roster.user.email.code.rejected.v1': { what: 'rejected' },
  'roster.user.email.code.returned.v1': { what: 'dropped', drops: [emailCode] },
  'roster.user.email.changed.v1': { what: 'dropped', drops: [emailCode, passwordCode] },
  'roster.user.email.verified.v1': { what: 'dropped', drops: [emailCode] },
  [passwordCode]: { what: 'requested', drops: [passwordCode] },
  'roster.user.password.code.sent.v1': { what: 'sent' },
  'roster.user.password.code.failed.v1': { what: 'failed' },
  'roster.user.password.code.rejected.v1': { what: 'rejected' },
  'roster.user.password.code.returned.v1': { what: 'dropped', drops: [passwordCode] },
  'roster.user.password.changed.v1': { what: 'dropped', drops: [passwordCode] },
  'roster.user.deactivated.v1': { what: 'dropped', drops: [passwordCode] },
  'roster.user.locked.v1': { what: 'dropped', drops: [passwordCode] },
  [notice]: { what: 'requested' },
  'roster.user.email.notice.sent.v1': { what: 'sent' },
  'roster.user.email.notice.failed.v1': { what: 'failed' },
  [removed]: { what: 'dropped', drops: [emailCode, passwordCode, notice] },
  'roster.user.forgotten.v1': { what: 'dropped' },
}

/** The types of the events of which these rows need more than the envelope. */
export const typesWithFacts = Object.keys(meanings).filter(
  (type) => meanings[type]!.what !== 'dropped' || type === removed,
)

/** Makes jobs of the mails that the event stream does not announce. */
export function unannouncedMails(events: Event[], now: Date): MailJob[] {
  return events.flatMap(({ type, data, aggregateId: userId, organizationId, id: cause, traceparent }) => {
    const kind = unannounced[type]
    const { noticeId, codeId = noticeId, expiresAt = '' } = (data ?? {}) as Record<string, string | undefined>
    const isLate = !(Date.parse(expiresAt) > now.getTime())
    if (!kind || codeId === undefined || isLate) return []
    return [{ userId, codeId, kind, organizationId, expiresAt, cause, ...(traceparent && { traceparent }) }]
  })
}

const unannounced: Record<string, MailName> = { [passwordCode]: 'password-reset', [notice]: 'email-changed' }
