import { randomUUID } from 'node:crypto'
import type { Statement } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { deriveCode, newCode } from '../../../directory/email/code.ts'
import { keepUnsent } from '../../../directory/email/unsent-mails.ts'
import { mailUses } from '../../../directory/email/mail-uses.ts'
import type { NewCode } from '../../../directory/events/code.ts'
import { userKey } from '../../../directory/events/user.ts'
import type { LoginUser } from '../../../directory/login-names/login-user.ts'
import { keepCode } from '../../../directory/secrets/one-time-codes.ts'
import type { Session, SessionEvent } from '../../events/session.ts'
import { sessionNotFound } from '../../sessions.ts'
import { kind, notAvailable, whyNot } from './otp-email.ts'

/** Seconds. */
const lifetime = 600

export interface CodeDelivery {
  session: { id: string; browserId: string | undefined }
  /** `return`: to the caller. Else it is mailed, with a link where there is a template; `requestId`: from its page. */
  how: 'return' | { urlTemplate?: string | undefined; requestId?: string }
}

/**
 * Makes a code for a session, in place of the one before it, and mails it. Returns the code where the caller is to have it.
 * FAILED_PRECONDITION FACTOR_NOT_AVAILABLE; NOT_FOUND SESSION_NOT_FOUND; RESOURCE_EXHAUSTED MAILS_THROTTLED.
 */
export async function sendCode(
  context: Context,
  { userId, organizationId }: Pick<LoginUser, 'userId' | 'organizationId'>,
  { session: { id: sessionId, browserId }, how }: CodeDelivery,
  { requestId, deadline }: Call,
): Promise<string | undefined> {
  const { keys, store } = context
  const codeId = randomUUID()
  const { code, text } = await store.execute({
    aggregate: { type: 'session', id: sessionId },
    reads: { user: userKey(userId) },
    call: { caller: { userId }, requestId, deadline },
    decide({ state }: Aggregate<Session>, now, { user }): Decision<SessionEvent, Made> {
      if (!state || state.ended || state.userId !== userId) throw sessionNotFound()
      if (whyNot(user.state)) throw notAvailable()
      const { email } = user.state!.human!
      const made = newCode(codeId, keys, lifetime, now)
      const { urlTemplate, requestId: ofPage } = how === 'return' ? {} : how
      const detail = { ...(urlTemplate !== undefined && { urlTemplate }), ...(ofPage !== undefined && { ofPage }) }
      return {
        events: [{ type: 'factor.challenged', payload: { userId, kind } }],
        writes: [
          keepCode(keys, kind, { code: made, userId, purpose: sessionId, browserId, detail }),
          withoutReplaced(userId),
          ...(how === 'return' ? [] : [keepUnsent({ kind, userId, codeId, expiresAt: made.expiresAt }, now)]),
        ],
        uses: how === 'return' ? [] : mailUses(context, email, organizationId, 'factor'),
        answer: { code: made, text: how === 'return' ? deriveCode(keys, made, userId, email, kind) : undefined },
      }
    },
    respond: ({ answer }) => answer,
  })
  if (how !== 'return') context.announceMail({ userId, codeId, organizationId, expiresAt: code.expiresAt, kind })
  return text
}

function withoutReplaced(userId: string): Statement {
  return (sql) => sql`
    delete from unsent_mails m where user_id = ${userId} and kind = ${kind}
      and not exists (select from secrets s where s.kind = ${kind} and s.id = m.mail_id)
  `
}

/** A template without what only these links have: a session's id, which is no secret. */
export function withoutSession(template: string, sessionId: string): string {
  return template.replaceAll('{{.SessionID}}', encodeURIComponent(sessionId))
}

interface Made {
  code: NewCode
  text: string | undefined
}
