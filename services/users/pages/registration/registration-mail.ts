import { MailKind } from '#gen/roster/users/v1/internal_service'
import { mailAddress } from '../../directory/email/address.ts'
import { withoutInviter } from '../../directory/email/mail-content.ts'
import { deriveCode } from '../../directory/email/code.ts'
import { endWithoutEvent, type KindOfMail } from '../../directory/email/mail-kind.ts'
import { isUnsent } from '../../directory/email/unsent-mails.ts'
import { findUserById } from '../../directory/login-names/login-user.ts'
import { isOrganizationOpen } from '../../directory/organizations/statuses.ts'
import { recoveryPage } from '../../sessions/login-policy/recovery-page.ts'
import { loadLoginPolicy } from '../../sessions/login-policy/load-login-policy.ts'
import { findHolder } from '../../directory/login-names/address-holder.ts'
import { findRegistration, mailKind } from './registration.ts'

/**
 * The mail of a registration: its code, or, to an address that has an account, that it has one. Only here it is looked up
 * whether there is one, so that no answer to a browser depends on it.
 */
export const registrationMail: KindOfMail = {
  number: MailKind.MAIL_KIND_REGISTRATION,
  name: mailKind,
  async content(context, { userId: requestId, codeId }) {
    const registration = await findRegistration(context, requestId)
    if (registration?.code.codeId !== codeId || !(await isUnsent(context, codeId))) return undefined
    const { email, organizationId, language: preferredLanguage, givenName, familyName, code } = registration
    if (!(await isOrganizationOpen(context, organizationId))) return undefined
    const common = {
      ...withoutInviter,
      from: { organizationId, requestId },
      email: mailAddress(email),
      expirationDate: new Date(code.expiresAt),
      changeDate: undefined,
    }
    const holder = await findHolder(context, registration)
    if (holder === undefined)
      return {
        ...common,
        code: deriveCode(context.keys, code, requestId, email, 'registration-code'),
        url: '',
        preferredLanguage,
        displayName: `${givenName} ${familyName}`,
        kind: MailKind.MAIL_KIND_UNSPECIFIED,
      }
    const user = await findUserById(context, holder)
    const profile = user?.state.human?.profile
    // Of the organization that has the account, which decides of a new password, too.
    const policy = await loadLoginPolicy(context, user?.organizationId ?? organizationId)
    const isByCode = policy.factors.includes('mailed-code')
    return {
      ...common,
      code: '',
      url: isByCode ? '' : recoveryPage(context, policy, organizationId),
      preferredLanguage: profile?.preferredLanguage || preferredLanguage,
      displayName: profile?.displayName ?? '',
      kind: isByCode ? MailKind.MAIL_KIND_ALREADY_REGISTERED_BY_CODE : MailKind.MAIL_KIND_ALREADY_REGISTERED,
    }
  },
  // There is no user who could have an event.
  end: endWithoutEvent(mailKind),
}
