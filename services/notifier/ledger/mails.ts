import { type Mail, MailState } from '#gen/roster/notifier/v1/mail_service'
import type { Sql } from '#lib/database/database'
import { tooLate } from '../mails/queue/mail-once.ts'

/** The part of `deliveries` that a mail has. */
export interface MailRow {
  position: string
  code_id: string
  state: 'queued' | 'sent' | 'failed' | 'superseded'
  kind: string
  organization_id: string
  user_id: string
  attempts: number
  reply: string | null
  error: string
  retry_at: Date | null
  expires_at: Date
  created_at: Date
  changed_at: Date
  bounced_at: Date | null
  bounce_status: string | null
  bounce_reason: string | null
}

/** Selects mails. The caller adds more conditions. */
export function selectMails(sql: Sql) {
  return sql`
    select position, code_id, state, mail_kind as kind, organization_id, user_id, attempts, reply, error, retry_at, expires_at,
      created_at, changed_at, bounced_at, mail_bounces.status as bounce_status, mail_bounces.reason as bounce_reason
    from deliveries left join mail_bounces using (code_id) where mail_kind is not null
  `
}

/** The condition of a state; undefined for every state. */
export function isInState(sql: Sql, state: MailState) {
  const isNotBounced = sql`bounced_at is null`
  const isLate = sql`starts_with(error, ${tooLate})`
  switch (state) {
    case MailState.MAIL_STATE_QUEUED:
      return sql`state = 'queued' and retry_at is null and ${isNotBounced}`
    case MailState.MAIL_STATE_DEFERRED:
      return sql`state = 'queued' and retry_at is not null and ${isNotBounced}`
    case MailState.MAIL_STATE_ACCEPTED:
      return sql`state = 'sent' and ${isNotBounced}`
    case MailState.MAIL_STATE_REFUSED:
      return sql`state = 'failed' and not ${isLate}`
    case MailState.MAIL_STATE_EXPIRED:
      return sql`state = 'failed' and ${isLate}`
    case MailState.MAIL_STATE_SUPERSEDED:
      return sql`state = 'superseded' and ${isNotBounced}`
    case MailState.MAIL_STATE_BOUNCED:
      return sql`state <> 'failed' and not (${isNotBounced})`
    default:
      return undefined
  }
}

export function showMail(row: MailRow): Mail {
  return {
    mailId: row.code_id,
    state: stateOf(row),
    kind: row.kind,
    organizationId: row.organization_id,
    userId: row.user_id,
    attempts: row.attempts,
    reply: row.reply ?? '',
    error: row.error,
    nextAttemptDate: row.state === 'queued' ? (row.retry_at ?? undefined) : undefined,
    expirationDate: row.expires_at,
    creationDate: row.created_at,
    changeDate: row.changed_at,
    ...showBounce(row),
  }
}

function showBounce(row: MailRow): Pick<Mail, 'bounceStatus' | 'bounceReason' | 'bounceDate'> {
  if (!isBounced(row)) return { bounceStatus: '', bounceReason: '' }
  return { bounceStatus: row.bounce_status ?? '', bounceReason: row.bounce_reason ?? '', bounceDate: row.bounced_at! }
}

// Whatever else its row says: it left, and its reply may not be stored yet. Only of a mail that was refused, or given up, that
// is the better word.
function isBounced({ bounced_at, state }: Pick<MailRow, 'bounced_at' | 'state'>): boolean {
  return bounced_at !== null && state !== 'failed'
}

// As `isInState`.
function stateOf(row: MailRow): MailState {
  const { state, retry_at, error } = row
  if (isBounced(row)) return MailState.MAIL_STATE_BOUNCED
  if (state === 'queued') return retry_at ? MailState.MAIL_STATE_DEFERRED : MailState.MAIL_STATE_QUEUED
  if (state === 'sent') return MailState.MAIL_STATE_ACCEPTED
  if (state === 'superseded') return MailState.MAIL_STATE_SUPERSEDED
  return error.startsWith(tooLate) ? MailState.MAIL_STATE_EXPIRED : MailState.MAIL_STATE_REFUSED
}
