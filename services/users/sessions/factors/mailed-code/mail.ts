import { MailKind } from '#gen/roster/users/v1/internal_service'
import { mailAddress } from '../../../directory/email/address.ts'
import { deriveCode } from '../../../directory/email/code.ts'
import { checkTemplate, linkOf, linkTargets } from '../../../directory/email/link.ts'
import { commonOf, toHuman } from '../../../directory/email/mail-content.ts'
import { endWithoutEvent, type KindOfMail } from '../../../directory/email/mail-kind.ts'
import { isUnsent } from '../../../directory/email/unsent-mails.ts'
import { findCode } from '../../../directory/secrets/one-time-codes.ts'
import { withoutSession } from '../otp-email/send-code.ts'
import { purpose } from './mailed-code.ts'
import { isTrustedAddress } from './trusted-address.ts'

/** The code that signs in without a password, and a link where a login application has a page for it. */
export const signInCodeMail: KindOfMail = {
  number: MailKind.MAIL_KIND_SIGN_IN_CODE,
  name: purpose,
  content: toHuman(async (context, { id, organizationId, state, readAt }, human, codeId) => {
    const code = await findCode(context, purpose, { codeId })
    if (code?.userId !== id || !isTrustedAddress(context, state, readAt)) return undefined
    if (!(await isUnsent(context, codeId))) return undefined
    const text = deriveCode(context.keys, code.code, id, human.email, purpose)
    const template = code.detail['urlTemplate'] && withoutSession(code.detail['urlTemplate'], code.purpose)
    // An operator may have allowed its host then, and no more.
    const isSound = template && checkTemplate(template, linkTargets(context.config, true), '').length === 0
    return {
      from: { organizationId, requestId: code.detail['ofPage'] },
      email: mailAddress(human.email),
      code: text,
      url: isSound ? linkOf(template, { UserID: id, Code: text, OrgID: organizationId }) : '',
      expirationDate: new Date(code.code.expiresAt),
      changeDate: undefined,
      ...commonOf(human),
      kind: isSound ? MailKind.MAIL_KIND_SIGN_IN_CODE_LINK : MailKind.MAIL_KIND_UNSPECIFIED,
    }
  }),
  end: endWithoutEvent(purpose),
}
