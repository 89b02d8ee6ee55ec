import { randomUUID } from 'node:crypto'
import { MailKind } from '#gen/roster/users/v1/internal_service'
import type { RosterError } from '#lib/errors'
import { keepAnswers } from '#lib/eventstore/idempotent-answers'
import { createStore } from '#lib/eventstore/store'
import { anonymous } from '#lib/rpc/caller'
import { createDatabase } from '#test/support/database'
import { counting } from '#test/support/publishing'
import { model } from '../../../model.ts'
import { getEmailCode } from '../../../internal/mails/get-email-code.ts'
import { passwordReset } from '../../../pages/recovery/password-reset.ts'
import { mailCode } from '../../../pages/recovery/request-password-reset.ts'
import { resetPassword } from '../../operations/password/reset-password.ts'
import { addHumanUser } from '../../operations/user/add-human-user.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../../testing/test-users.ts'

export const verified = { $case: 'isVerified' as const, value: true }
export const returned = { $case: 'returnCode' as const, value: {} }
export const newAddress = () => `${randomUUID()}@example.com`
export const newPassword = () => `Password-${randomUUID()}`
export const root = () => callIn('acme')
export const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: RosterError) => error.reason,
  )

/** A replica of users whose people forget their passwords. */
export type Recoveries = Awaited<ReturnType<typeof openRecoveries>>

export async function openRecoveries() {
  const database = await createDatabase()
  const opened = await openUsers(database.urls.users, { PUBLIC_URL: 'https://id.example.com' })
  const grants = await serveDomains({})
  const counted = { statements: 0, macs: 0 }
  const sql = counting(opened.sql, () => counted.statements++)
  const answers = keepAnswers(sql, opened.keys, opened.log)
  const store = createStore(sql, model, opened.log, () => {}, answers, opened)
  const { keys } = opened
  const mac: typeof keys.mac = (...args) => (counted.macs++, keys.mac(...args))
  const users: TestUsers = { ...opened, store, keys: { ...keys, mac } }
  let client = ''

  const stranger = () => ({ ...callIn('acme', client), caller: anonymous })
  const contentOf = async (userId: string, codeId: string, kind: MailKind = MailKind.MAIL_KIND_PASSWORD_RESET) =>
    (await getEmailCode(users, { userId, codeId, kind, mails: [] })).code
  /** The id of the code that waits to be mailed to the user. */
  async function waiting(userId: string): Promise<string | undefined> {
    const [row] = await users.sql<{ mail_id: string }[]>`
      select mail_id from unsent_mails where user_id = ${userId} and kind = 'password-reset'
    `
    return row?.mail_id
  }

  return {
    users,
    answers,
    /** Statements, and keyed hashes. */
    counted,
    /** From now on it is another client. */
    anotherClient() {
      client = `203.0.113.${Math.floor(Math.random() * 250)}-${randomUUID()}`
    },
    stranger,
    async newHuman(verification: typeof verified | typeof returned = verified) {
      const profile = { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 as const }
      const [userName, password, email] = [randomUUID(), randomUUID(), newAddress()]
      const request = { userName, password, profile, email: { email, verification } }
      const { userId, emailCode = '' } = await addHumanUser.handle(users, request, root())
      return { userId, userName, password, email, emailCode }
    },
    returnedCode: async (userId: string) =>
      (await passwordReset.handle(users, { userId, medium: returned }, root())).verificationCode!,
    reset: (userId: string, verificationCode: string, password = newPassword()) =>
      reasonOf(resetPassword(users, { userId, verificationCode, newPassword: password }, stranger())),
    ask: (userName: string) => mailCode(users, userName, stranger()),
    waiting,
    contentOf,
    async stop() {
      answers.stop()
      await grants.stop()
      await opened.stop()
      await database.drop()
    },
  }
}
