import { randomUUID } from 'node:crypto'
import { type EmailCode, MailKind } from '#gen/roster/users/v1/internal_service'
import { LoginPolicySettings } from '#gen/roster/users/v1/login_policy_service'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { requestOf, Visitor } from '../../../openid/authorization/testing/visitors.ts'
import { getEmailCode } from '../../../internal/mails/get-email-code.ts'
import { listUnsentEmailCodes } from '../../../internal/mails/list-unsent-email-codes.ts'
import { updateLoginPolicy } from '../../../sessions/operations/settings/update-login-policy.ts'
import { finishRegistration } from '../../operations/registration/finish-registration.ts'
import { register } from '../../operations/registration/register.ts'
import { callIn, type TestUsers } from '../../../testing/test-users.ts'

export const password = 'a new password'
export const newAddress = () => `${randomUUID()}@example.com`

/** Says whether people may register in an organization. */
export async function setPolicy(
  users: TestUsers,
  organizationId: string,
  allowRegister: boolean,
  more: Partial<LoginPolicySettings> = {},
): Promise<void> {
  const settings = { ...LoginPolicySettings.decode(new Uint8Array()), allowRegister, ...more }
  await updateLoginPolicy.handle(users, { settings }, callIn(organizationId))
}

/** Somebody at a browser who has no account. */
export class Newcomer extends Visitor {
  /** Goes from the page to sign in to that for registering. */
  async wish(page: PageAnswer): Promise<PageAnswer> {
    return this.show(requestOf(await this.post(page, { action: 'register' })))
  }

  async register(
    { requestId, formToken }: Pick<PageAnswer, 'requestId' | 'formToken'>,
    { email = newAddress(), givenName = 'Ada', familyName = 'Lovelace', language = 'en', action = 'register' } = {},
  ): Promise<PageAnswer> {
    const request = { browser: this.cookie, requestId, formToken, email, givenName, familyName, language, action }
    return this.follow(this.keep(await register(this.users, request, this.call())))
  }

  /** Gives an address to register with, and returns the page that asks for the code. */
  async ask(email = newAddress(), parameters = {}): Promise<PageAnswer> {
    return this.register(await this.wish(await this.begin(parameters)), { email })
  }

  async finish(
    { requestId, formToken }: Pick<PageAnswer, 'requestId' | 'formToken'>,
    given: { code: string; password?: string; action?: string; keep?: string },
  ): Promise<PageAnswer> {
    const request = { browser: this.cookie, requestId, formToken, password, action: 'finish', keep: '', ...given }
    return this.follow(this.keep(await finishRegistration(this.users, request, this.call())))
  }

  /** The mail that waits for a request. */
  async mailOf({ requestId }: Pick<PageAnswer, 'requestId'>): Promise<EmailCode | undefined> {
    const { codes } = await listUnsentEmailCodes(this.users, { limit: 5000 })
    const mail = codes.find(({ userId }) => userId === requestId)
    if (!mail) return undefined
    const kind = MailKind.MAIL_KIND_REGISTRATION
    const { code } = await getEmailCode(this.users, { userId: requestId, codeId: mail.codeId, kind, mails: [] })
    return code
  }

  async codeOf(page: Pick<PageAnswer, 'requestId'>): Promise<string> {
    return (await this.mailOf(page))!.code
  }
}
