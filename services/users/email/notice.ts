import { RosterError } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Use } from '#lib/eventstore/command'
import type { Write } from '#lib/eventstore/database'
import type { Context } from '../context.ts'
import type { User, UserEvent } from '../vocabulary/user.ts'
import { mailUses } from './mail-uses.ts'

// Milliseconds after which a notice comes too late to help.
const lifetime = 3 * 86_400_000

/** A notice to a former address: its event, its row and the uses of its mail. */
export interface Notice {
  event: UserEvent
  write: Write
  uses: Use[]
}

/**
 * The notice that tells the present address of its change; undefined where the address was never verified, or stays.
 * Notices are counted apart from other mails: nobody can use up the limit of somebody's notices beforehand. Where
 * there were too many, the error is `noticeDropped`.
 */
export function requestNotice(
  context: Pick<Context, 'config' | 'keys'>,
  { id, organizationId, state }: Aggregate<User>,
  email: string,
  noticeId: string,
  now: Date,
): Notice | undefined {
  const human = state?.human
  if (!human?.isVerified || human.email === email) return undefined
  const expiresAt = new Date(now.getTime() + lifetime).toISOString()
  return {
    event: { type: 'email.notice.requested', payload: { noticeId, expiresAt } },
    write: (sql) => sql`
      insert into unsent_mails (mail_id, user_id, kind, requested_at, expires_at, address)
      values (${noticeId}, ${id}, 'email-changed', ${now}, ${expiresAt}, ${human.email})
    `,
    uses: mailUses(context, human.email, organizationId, 'notice').map((use) => ({
      ...use,
      exceeded: () => noticeDropped,
    })),
  }
}

/** Too many notices went to the address, or to users of the organization. The change itself must not fail by it. */
export const noticeDropped = new RosterError('RESOURCE_EXHAUSTED', 'MAILS_THROTTLED', 'There were too many notices.')
