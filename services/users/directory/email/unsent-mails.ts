import type { MailWithoutEvent } from '#lib/events/hints'
import { orUnavailable, type Statement } from '#lib/database/database'
import type { Context } from '../../context.ts'

/** A mail that waits. It names its organization only where it has no user yet. */
type UnsentMail = Omit<MailWithoutEvent, 'organizationId'> & { organizationId?: string }

/** Keeps the row by which the notifier finds a mail that it has not heard of. */
export function keepUnsent({ kind, codeId, userId, expiresAt, organizationId }: UnsentMail, now: Date): Statement {
  return (sql) => sql`
    insert into unsent_mails (mail_id, user_id, kind, requested_at, expires_at, organization_id)
    values (${codeId}, ${userId}, ${kind}, ${now}, ${expiresAt}, ${organizationId ?? null})
  `
}

export async function isUnsent({ sql }: Pick<Context, 'sql'>, codeId: string): Promise<boolean> {
  const rows = await orUnavailable(sql`select from unsent_mails where mail_id = ${codeId}`)
  return rows.length > 0
}
