import {
  type EmailCode,
  type GetEmailCodeRequest,
  type GetEmailCodeResponse,
  type MailKey,
  MailKind,
} from '#gen/roster/users/v1/internal_service'
import type { Existing, Read } from '#lib/eventstore/aggregate'
import { orUnavailable, readNow } from '#lib/database/database'
import type { Context } from '../context.ts'
import { mailAddress } from '../directory/email/address.ts'
import { type CodePurpose, deriveCode } from '../directory/email/code.ts'
import { checkTemplate, defaultTemplate, linkOf, linkTargets } from '../directory/email/link.ts'
import { findNotice } from '../directory/email/notice.ts'
import type { Config } from '../config.ts'
import { registrationMail } from '../pages/registration/registration-mail.ts'
import { eachMail } from './each-mail.ts'
import { isActive } from '../directory/states/user-state.ts'
import { type Code, isAlive } from '../directory/events/code.ts'
import { awaitsMail, type CodeMail, codeMailType } from '../directory/events/code-mail.ts'
import type { Human } from '../directory/events/human.ts'
import { canRenew, type PasswordCode, passwordCodeType } from '../directory/events/password-code.ts'
import type { User } from '../directory/events/user.ts'

export async function getEmailCode(
  context: Context,
  { mails, ...one }: GetEmailCodeRequest,
): Promise<GetEmailCodeResponse> {
  const time = await orUnavailable(readNow(context.sql))
  if (mails.length === 0) return { ...codeOf(await find(context, one)), contents: [], time }
  const found = await eachMail(context.log, mails, (mail) => find(context, mail))
  const contents = found.map((mail) => (mail.done ? { ...codeOf(mail.value), unknown: false } : { unknown: true }))
  return { contents, time }
}

const codeOf = (code: EmailCode | undefined) => (code ? { code } : {})

async function find(context: Context, { userId, codeId, kind }: MailKey): Promise<EmailCode | undefined> {
  if (kind === MailKind.MAIL_KIND_REGISTRATION) return registrationMail(context, userId, codeId)
  const user = await context.store.load<User>('user', userId)
  return user?.state.human && contentOf(kind)(context, user, user.state.human, codeId)
}

// That of the request.
const kind = MailKind.MAIL_KIND_UNSPECIFIED

type Content = (
  context: Context,
  user: Read<Existing<User>>,
  human: Human,
  mailId: string,
) => Promise<EmailCode | undefined>

function contentOf(kind: MailKind): Content {
  if (kind === MailKind.MAIL_KIND_PASSWORD_RESET) return passwordReset
  return kind === MailKind.MAIL_KIND_EMAIL_CHANGED ? emailChanged : emailCode
}

const emailCode: Content = async (context, user, human, codeId) => {
  const mail = await context.store.load<CodeMail>(codeMailType, user.id)
  if (!awaitsMail(human.code, codeId, mail?.state) || !isAlive(human.code, user.readAt)) return undefined
  return codeMail(context, user, human, { code: human.code, purpose: 'email-code', page: 'verify-email' })
}

const passwordReset: Content = async (context, user, human, codeId) => {
  const code = (await context.store.load<PasswordCode>(passwordCodeType, user.id))?.state
  if (code?.codeId !== codeId || code.delivery !== 'pending') return undefined
  if (!isActive(user.state) || !canRenew(code, human, user.readAt)) return undefined
  return codeMail(context, user, human, { code, purpose: 'password-code', page: 'reset-password' })
}

// It goes to the former address.
const emailChanged: Content = async (context, user, human, noticeId) => {
  const notice = await findNotice(context, user.id, noticeId)
  if (!notice) return undefined
  const nothing = { code: '', url: '' }
  const times = { expirationDate: notice.expiresAt, changeDate: notice.requestedAt }
  return { email: mailAddress(notice.address), ...nothing, ...namesOf(human), ...times, kind }
}

function codeMail(
  { config, keys }: Context,
  { id, organizationId }: Existing<User>,
  human: Human,
  { code: facts, purpose, page }: { code: Code; purpose: CodePurpose; page: string },
): EmailCode {
  const code = deriveCode(keys, facts, id, human.email, purpose)
  const url = linkOf(templateFor(facts, config, page), { UserID: id, Code: code, OrgID: organizationId })
  const times = { expirationDate: new Date(facts.expiresAt), changeDate: undefined }
  return { email: mailAddress(human.email), code, url, ...namesOf(human), ...times, kind }
}

function namesOf({ profile: { preferredLanguage, displayName } }: Human) {
  return { preferredLanguage, displayName }
}

// Checks the template again. An earlier version, or one without configured hosts, may have accepted it.
function templateFor({ urlTemplate }: Code, config: Config, page: string): string {
  const isSound = urlTemplate !== undefined && checkTemplate(urlTemplate, linkTargets(config, true), '').length === 0
  return isSound ? urlTemplate : defaultTemplate(config.PUBLIC_URL, page)
}
