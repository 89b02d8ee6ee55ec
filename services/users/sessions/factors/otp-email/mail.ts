import { MailKind } from '#gen/roster/users/v1/internal_service'
import { mailAddress } from '../../../directory/email/address.ts'
import { deriveCode } from '../../../directory/email/code.ts'
import { checkTemplate, linkOf, linkTargets } from '../../../directory/email/link.ts'
import { commonOf, toHuman } from '../../../directory/email/mail-content.ts'
import { endWithoutEvent, type KindOfMail } from '../../../directory/email/mail-kind.ts'
import { isUnsent } from '../../../directory/email/unsent-mails.ts'
import { findCode } from '../../../directory/secrets/one-time-codes.ts'
import { kind, whyNot } from './otp-email.ts'
import { withoutSession } from './send-code.ts'

/** The code of a second factor, and a link where a login application has a page for it. */
export const otpEmailMail: KindOfMail = {
  number: MailKind.MAIL_KIND_OTP_EMAIL,
  name: kind,
  content: toHuman(async (context, { id, organizationId, state }, human, codeId) => {
    const code = await findCode(context, kind, { codeId })
    if (code?.userId !== id || whyNot(state) || !(await isUnsent(context, codeId))) return undefined
    const text = deriveCode(context.keys, code.code, id, human.email, kind)
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
      kind: isSound ? MailKind.MAIL_KIND_OTP_EMAIL_LINK : MailKind.MAIL_KIND_UNSPECIFIED,
    }
  }),
  end: endWithoutEvent(kind),
}
