import { expect } from 'vitest'
import { type EmailCode, MailKind } from '#gen/roster/users/v1/internal_service'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { getEmailCode } from '../../../internal/mails/get-email-code.ts'
import { Visitor } from '../../../openid/authorization/testing/visitors.ts'
import { finishRecovery } from '../../operations/recovery/finish-recovery.ts'
import { recover } from '../../operations/recovery/recover.ts'
import { showRecovery } from '../../operations/recovery/show-recovery.ts'

export const newPassword = 'a quite new password'

type Page = Pick<PageAnswer, 'requestId' | 'formToken'>

/** What is entered beside the code. */
interface Given {
  password?: string
  action?: string
  keep?: string
  credential?: string
  name?: string
}

/** A person at a browser who forgot the password. */
export class Forgetful extends Visitor {
  async recover({ requestId, formToken }: Page, action: string, loginName = ''): Promise<PageAnswer> {
    const request = { browser: this.cookie, requestId, formToken, loginName, action }
    return this.follow(this.keep(await recover(this.users, request, this.call())))
  }

  /** Asks for a code, and returns the page that it is entered on. */
  async ask(page: Page, loginName: string): Promise<PageAnswer> {
    return this.recover(await this.recover(page, 'begin', loginName), 'send', loginName)
  }

  /** Enters a code, and returns the page after it. */
  async finish(page: Page, code: string, given: Given = {}): Promise<PageAnswer> {
    return this.follow(await this.finishOnly(page, code, given))
  }

  async finishOnly({ requestId, formToken }: Page, code: string, given: Given = {}) {
    const more = { password: newPassword, action: 'finish', keep: '', credential: '', name: '', ...given }
    const request = { browser: this.cookie, requestId, formToken, code, ...more }
    return this.keep(await finishRecovery(this.users, request, this.call()))
  }

  /** Where the link of the mail leads in this browser. */
  async open(requestId: string): Promise<string> {
    const request = { browser: this.cookie, requestId, organizationId: '' }
    const { answer } = await showRecovery(this.users, request)
    return answer?.$case === 'redirect' ? answer.value.location : ''
  }

  /** The mail that waits for a user. */
  async waiting(userId: string): Promise<EmailCode | undefined> {
    const [row] = await this.users.sql<{ codeId: string }[]>`
      select mail_id as "codeId" from unsent_mails where user_id = ${userId} and kind = 'password-reset'
    `
    const kind = MailKind.MAIL_KIND_PASSWORD_RESET
    return row && (await getEmailCode(this.users, { userId, codeId: row.codeId, kind, mails: [] })).code
  }

  /** The mail that comes to a user. */
  async mailTo(userId: string): Promise<EmailCode> {
    await expect.poll(() => this.waiting(userId)).toBeDefined()
    return (await this.waiting(userId))!
  }
}
