import { randomUUID } from 'node:crypto'
import { MailKind } from '#gen/roster/users/v1/internal_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { invalid, RosterError } from '#lib/errors'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import { coversRole } from '#lib/rpc/roles'
import type { Context } from '../../context.ts'
import { mailAddress } from '../../directory/email/address.ts'
import { deriveCode, matchesCode, newCode } from '../../directory/email/code.ts'
import { checkTemplate, defaultTemplate, linkOf, linkTargets } from '../../directory/email/link.ts'
import { commonOf, toHuman } from '../../directory/email/mail-content.ts'
import { endWithoutEvent, type KindOfMail } from '../../directory/email/mail-kind.ts'
import { mailUses } from '../../directory/email/mail-uses.ts'
import { isUnsent, keepUnsent } from '../../directory/email/unsent-mails.ts'
import { humanOf, type User, type UserEvent } from '../../directory/events/user.ts'
import { countTry, findCode, keepCode, type OneTimeCode } from '../../directory/secrets/one-time-codes.ts'
import { isActive } from '../../directory/states/user-state.ts'
import { freshFor } from '../fresh-for.ts'
import { requireVouchedPasskey } from '../login-client-session.ts'
import { findLinkOf, findVouchedLink, kind, purpose, vouchedPurpose } from './living-link.ts'
import { refuseWhereNotAllowed } from './register.ts'

/** Seconds. */
const lifetime = 86_400

export interface NewLink {
  userId: string
  /** Of the person. */
  organizationId: string
  /** `return`: to the caller. `vouched`: also, and a session at that login application vouches for each use. */
  how: 'return' | 'vouched' | { urlTemplate: string | undefined }
}

/**
 * Makes the code of a link, in place of the one before it, and mails or returns it. FAILED_PRECONDITION FACTOR_NOT_AVAILABLE,
 * USER_NOT_ACTIVE, EMAIL_NOT_VERIFIED; NOT_FOUND USER_NOT_FOUND; RESOURCE_EXHAUSTED MAILS_THROTTLED.
 */
export async function createLink(context: Context, { userId, organizationId, how }: NewLink, call: Call) {
  await refuseWhereNotAllowed(context, organizationId)
  const { keys } = context
  const codeId = randomUUID()
  const { mail, ...answer } = await context.store.execute({
    aggregate: { type: 'user', id: userId },
    call,
    decide({ state }: Aggregate<User>, now): Decision<UserEvent, { text: string; expiresAt: string }> {
      const human = humanOf(state)
      if (!isActive(state))
        throw new RosterError('FAILED_PRECONDITION', 'USER_NOT_ACTIVE', 'The user is deactivated or locked.')
      const isMailed = typeof how !== 'string'
      if (isMailed && !human.isVerified)
        throw new RosterError('FAILED_PRECONDITION', 'EMAIL_NOT_VERIFIED', 'The address of the user is not verified.')
      const isVouched = how === 'vouched'
      const code = newCode(codeId, keys, isVouched ? freshFor : lifetime, now)
      const { expiresAt } = code
      const seesCode = !isMailed || how.urlTemplate !== undefined
      const detail: Record<string, string> = {
        madeBy: call.caller.userId,
        email: human.email,
        ...(isMailed && how.urlTemplate && { urlTemplate: how.urlTemplate }),
        // Where a session vouches, the code alone opens nothing.
        ...(seesCode &&
          !isVouched &&
          !coversRole(call.caller.instanceRoles, instance.administratorRole) && { seenBy: call.caller.userId }),
      }
      const delivery = isMailed ? 'mailed' : 'returned'
      return {
        events: [{ type: 'passkey.link.created', payload: { codeId, delivery, expiresAt } }],
        writes: [
          keepCode(keys, kind, { code, userId, purpose: isVouched ? vouchedPurpose(call) : purpose, detail }),
          ...(isMailed ? [keepUnsent({ kind, userId, codeId, expiresAt }, now)] : []),
        ],
        uses: isMailed ? mailUses(context, human.email, organizationId) : [],
        answer: { text: deriveCode(keys, code, userId, human.email, kind), expiresAt },
      }
    },
    respond: ({ after, answer: { text, expiresAt } }) => ({
      details: details(after),
      code: typeof how === 'string' ? { id: codeId, code: text } : undefined,
      mail: { kind, codeId, userId, organizationId, expiresAt },
    }),
  })
  if (typeof how !== 'string') context.announceMail(mail)
  return answer
}

/**
 * The code of a link that was entered. Counts the try. INVALID_ARGUMENT CODE_INVALID for a wrong, used, replaced or expired
 * one, after five tries, for an unknown user, and where `findLinkOf` finds none, alike.
 */
export async function openLink(
  context: Context,
  { userId, id, code: typed }: { userId: string; id: string; code: string },
  call: Call,
): Promise<OneTimeCode> {
  // Without the id, which is a secret as well, nobody uses up the tries of a link.
  const links = await Promise.all([findLinkOf(context, userId, call), findVouchedLink(context, userId, call)])
  const link = links.find((one) => one?.code.codeId === id)
  if (!link) throw codeInvalid()
  const code = await countTry(context, kind, link)
  const email = code?.detail['email'] ?? ''
  const isRight =
    code?.code.codeId === id && matchesCode(typed, deriveCode(context.keys, code.code, userId, email, kind))
  if (!code || !isRight) throw codeInvalid()
  if (code.purpose !== purpose) await requireVouchedPasskey(context, userId, call)
  return code
}

function codeInvalid(): RosterError {
  return invalid([{ field: 'code.code', description: 'is wrong, expired, used or replaced' }], 'CODE_INVALID')
}

/** A template without what only these links have. The id of a code is no secret. */
export function withoutCodeId(template: string, codeId: string): string {
  return template.replaceAll('{{.CodeID}}', encodeURIComponent(codeId))
}

/** The mail with the link. */
export const passkeyLinkMail: KindOfMail = {
  number: MailKind.MAIL_KIND_PASSKEY_LINK,
  name: kind,
  content: toHuman(async (context, { id, organizationId }, human, codeId) => {
    const code = await findCode(context, kind, { codeId })
    if (code?.userId !== id || !human.isVerified || !(await isUnsent(context, codeId))) return undefined
    const text = deriveCode(context.keys, code.code, id, human.email, kind)
    const own = `${defaultTemplate(context.config.PUBLIC_URL, 'passkey')}&codeId=${encodeURIComponent(codeId)}`
    const template = withoutCodeId(code.detail['urlTemplate'] ?? own, codeId)
    // An operator may have allowed its host then, and no more.
    const isSound = checkTemplate(template, linkTargets(context.config, true), '').length === 0
    const times = { expirationDate: new Date(code.code.expiresAt), changeDate: undefined }
    const url = linkOf(isSound ? template : own, { UserID: id, Code: text, OrgID: organizationId })
    return { email: mailAddress(human.email), code: text, url, ...times, ...commonOf(human) }
  }),
  end: endWithoutEvent(kind),
}
