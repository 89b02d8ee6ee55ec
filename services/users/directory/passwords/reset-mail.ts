import { MailKind } from '#gen/roster/users/v1/internal_service'
import type { ByFunction, Write } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import { codeContent, toHuman } from '../email/mail-content.ts'
import { endByEvent, type KindOfMail } from '../email/mail-kind.ts'
import { maxWrongTries } from '../events/code.ts'
import { canRenew, type PasswordCode, passwordCodeType, revisionOf } from '../events/password-code.ts'
import type { User } from '../events/user.ts'
import { isActive } from '../states/user-state.ts'

/** The mail with the code that renews a forgotten password. */
export const resetMail: KindOfMail = {
  number: MailKind.MAIL_KIND_PASSWORD_RESET,
  name: 'password-reset',
  content: toHuman(async (context, user, human, codeId) => {
    const code = (await context.store.load<PasswordCode>(passwordCodeType, user.id))?.state
    if (!isPending(code, codeId) || !isActive(user.state) || !canRenew(code, human, user.readAt)) return undefined
    return codeContent(context, user, human, { code, purpose: 'password-code', page: 'reset-password' })
  }),
  end: endByEvent<PasswordCode>(passwordCodeType, 'codeId', (code, _, codeId) => isPending(code, codeId)),
}

function isPending(code: PasswordCode | undefined, codeId: string): boolean {
  return code?.codeId === codeId && code.delivery === 'pending'
}

export function projectPasswordCode({ id, state }: Aggregate<PasswordCode>): Write[] {
  if (state?.delivery !== 'pending' || state.wrongTries >= maxWrongTries) return [withoutResets(id)]
  const { codeId, expiresAt } = state
  return [
    (sql) => sql`
      delete from unsent_mails where user_id = ${id} and kind = ${resetMail.name} and mail_id <> ${codeId}
    `,
    (sql) => sql`
      insert into unsent_mails (mail_id, user_id, kind, requested_at, expires_at)
      values (${codeId}, ${id}, ${resetMail.name}, roster_now(), ${expiresAt})
      on conflict (mail_id) do nothing
    `,
  ]
}

/** A code that can no longer renew the password is not mailed. */
export function projectPasswordChange(before: Aggregate<User>, { id, state }: Aggregate<User>): Write[] {
  const [was, is] = [before.state?.human, state?.human]
  const isOver = is !== undefined && was !== undefined && (revisionOf(was) !== revisionOf(is) || !isActive(state))
  return isOver ? [withoutResets(id)] : []
}

function withoutResets(userId: string): Write {
  return { row: { user_id: userId }, calls: withoutResetsOf }
}

const withoutResetsOf: ByFunction['calls'] = (rows) => [{ name: 'forget_unsent_resets', rows }]
