import { MailKind } from '#gen/roster/users/v1/internal_service'
import type { ByFunction, Write } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import { type Code, isAlive, maxWrongTries } from '../events/code.ts'
import { awaitsMail, type CodeMail, codeMailType } from '../events/code-mail.ts'
import type { User } from '../events/user.ts'
import { codeContent, nameOfInviter, toHuman } from './mail-content.ts'
import { endByEvent, type KindOfMail } from './mail-kind.ts'

/** The mail with the code that verifies an address. Its rows lie in a table of their own. */
export const verificationMail: KindOfMail = {
  number: MailKind.MAIL_KIND_EMAIL_CODE,
  name: 'email-code',
  content: toHuman(async (context, user, human, codeId) => {
    const mail = await context.store.load<CodeMail>(codeMailType, user.id)
    if (!awaitsMail(human.code, codeId, mail?.state) || !isAlive(human.code, user.readAt)) return undefined
    const mailed = { code: human.code, purpose: 'email-code' as const }
    if (human.invite?.codeId !== codeId) return codeContent(context, user, human, { ...mailed, page: 'verify-email' })
    const { invitedBy, applicationName = '' } = human.invite
    return {
      ...codeContent(context, user, human, { ...mailed, page: 'invitation' }),
      kind: MailKind.MAIL_KIND_INVITATION,
      inviter: await nameOfInviter(context, invitedBy),
      applicationName,
    }
  }),
  end: endByEvent<CodeMail>(codeMailType, 'codeId', (mail, user, codeId) =>
    awaitsMail(user?.human?.code, codeId, mail),
  ),
}

export function projectUnsentCode(before: Aggregate<User>, after: Aggregate<User>): Write[] {
  const [was, is] = [unsent(before.state), unsent(after.state)]
  if (was?.codeId === is?.codeId) return []
  const code = is && { code_id: is.codeId, requested_at: after.changedAt, expires_at: is.expiresAt }
  // The mail of a code is recorded in a later transaction, so it does not matter which comes first.
  return [{ row: { user_id: after.id, ...code }, calls: unsentCodes, anywhere: true }]
}

// A transaction may change a user more than once, but a statement changes a row only once.
const unsentCodes: ByFunction<{ user_id: string; code_id?: string }>['calls'] = (rows) => {
  const last = [...new Map(rows.map((row) => [row.user_id, row])).values()]
  return [{ name: 'keep_unsent_codes', rows: last }]
}

function unsent(user: User | undefined): Code | undefined {
  const code = user?.human?.code
  return code?.delivery === 'pending' && code.wrongTries < maxWrongTries ? code : undefined
}

export function projectCodeMail({ id, state }: Aggregate<CodeMail>): Write[] {
  return state ? [(sql) => sql`delete from unsent_email_codes where user_id = ${id} and code_id = ${state.codeId}`] : []
}
