import type { MailWithoutEvent } from '#lib/events/hints'
import type { Statement } from '#lib/database/database'
import type { Use } from '#lib/eventstore/command'
import type { Context } from '../../context.ts'
import { deriveCode, newCode } from '../../directory/email/code.ts'
import { pageLink } from '../../directory/email/page-link.ts'
import { mailUses } from '../../directory/email/mail-uses.ts'
import { keepUnsent } from '../../directory/email/unsent-mails.ts'
import type { NewLink } from '../../directory/events/invitation.ts'

/** Seven days. */
const lifetime = 7 * 86_400

/** The name of the kind of its mail. */
export const mailKind = 'invitation'

/** How a link reaches the person. Undefined: by mail. */
export type Delivery = { $case: 'sendLink' | 'returnLink' } | undefined

/** A new link for an invitation: its facts, and either its mail, or the link itself for the caller. */
export interface MadeLink {
  facts: NewLink
  mail: MailWithoutEvent | undefined
  link: string | undefined
  writes: Statement[]
  uses: Use[]
}

interface Invited {
  id: string
  organizationId: string
  email: string
  codeId: string
  inviterId: string
}

/** Its writes also end the mail of the former link. */
export function makeLink(
  context: Pick<Context, 'config' | 'keys'>,
  { id, organizationId, email, codeId, inviterId }: Invited,
  delivery: Delivery,
  now: Date,
): MadeLink {
  const isReturned = delivery?.$case === 'returnLink'
  const code = newCode(codeId, context.keys, lifetime, now)
  const facts: NewLink = { ...code, delivery: isReturned ? 'returned' : 'mailed', inviterId }
  const writes = [withoutMail(id)]
  if (isReturned)
    return { facts, mail: undefined, link: linkOf(context, { id, organizationId, email }, facts), writes, uses: [] }
  const mail = { kind: mailKind, codeId, userId: id, organizationId, expiresAt: code.expiresAt }
  return {
    facts,
    mail,
    link: undefined,
    writes: [...writes, keepUnsent(mail, now)],
    uses: mailUses(context, email, organizationId),
  }
}

export function codeOf({ keys }: Pick<Context, 'keys'>, id: string, email: string, facts: NewLink): string {
  return deriveCode(keys, facts, id, email, 'invitation-code')
}

/** The code stands behind the #: no server and no log sees it before the button is pressed. */
export function linkOf(
  context: Pick<Context, 'config' | 'keys'>,
  { id, organizationId, email }: Pick<Invited, 'id' | 'organizationId' | 'email'>,
  facts: NewLink,
): string {
  const page = pageLink(context.config, `/ui/invitation/${encodeURIComponent(id)}`, organizationId)
  return `${page}#code=${codeOf(context, id, email, facts)}`
}

/** The mail of the last link is not sent any more. */
export function withoutMail(id: string): Statement {
  return (sql) => sql`delete from unsent_mails where user_id = ${id} and kind = ${mailKind}`
}
