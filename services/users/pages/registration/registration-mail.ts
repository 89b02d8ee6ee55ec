import { type EmailCode, MailKind } from '#gen/roster/users/v1/internal_service'
import { orUnavailable } from '#lib/database/database'
import type { Context } from '../../context.ts'
import { mailAddress } from '../../directory/email/address.ts'
import { deriveCode } from '../../directory/email/code.ts'
import { findUserById } from '../../directory/login-names/login-user.ts'
import { isOrganizationOpen } from '../../directory/organizations/statuses.ts'
import { findHolder } from './address-holder.ts'
import { findRegistration } from './registration.ts'

/**
 * The mail of a registration: its code, or, to an address that has an account, that it has one. Only here it is looked up
 * whether there is one, so that no answer to a browser depends on it.
 */
export async function registrationMail(
  context: Context,
  requestId: string,
  codeId: string,
): Promise<EmailCode | undefined> {
  const registration = await findRegistration(context, requestId)
  if (registration?.code.codeId !== codeId) return undefined
  const { email, organizationId, language: preferredLanguage, givenName, familyName, code } = registration
  if (!(await isUnsent(context, codeId)) || !(await isOrganizationOpen(context, organizationId))) return undefined
  const common = { email: mailAddress(email), expirationDate: new Date(code.expiresAt), changeDate: undefined }
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
  const profile = (await findUserById(context, holder))?.state.human?.profile
  return {
    ...common,
    code: '',
    url: new URL('/ui/forgot-password', context.config.PUBLIC_URL).href,
    preferredLanguage: profile?.preferredLanguage || preferredLanguage,
    displayName: profile?.displayName ?? '',
    kind: MailKind.MAIL_KIND_ALREADY_REGISTERED,
  }
}

async function isUnsent({ sql }: Context, codeId: string): Promise<boolean> {
  const rows = await orUnavailable(sql`select from unsent_mails where mail_id = ${codeId}`)
  return rows.length > 0
}
