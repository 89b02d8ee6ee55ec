import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { MailKind } from '#gen/roster/users/v1/internal_service'
import { anonymous } from '#lib/rpc/caller'
import { recordEmailCode } from '../../internal/mails/record-email-code.ts'
import { passwordReset } from '../../pages/recovery/password-reset.ts'
import { mailCode } from '../../pages/recovery/request-password-reset.ts'
import { setEmail } from '../operations/user/set-email.ts'
import { verifyEmail } from '../operations/user/verify-email.ts'
import type { TestUsers } from '../../testing/test-users.ts'
import { newAddress, openRecoveries, reasonOf, returned, root, verified } from './testing/recoveries.ts'

const recoveries = await openRecoveries()
const { users, stranger, newHuman, ask, waiting, contentOf } = recoveries
afterAll(() => recoveries.stop())
beforeEach(() => recoveries.anotherClient())

describe('an address', () => {
  const asked = async (userId: string, userName: string) => {
    await ask(userName)
    return (await waiting(userId)) !== undefined
  }

  test('gets no code from a manager unless it is verified, nor from anybody once that was taken back', async () => {
    const { userId, userName, emailCode } = await newHuman(returned)
    const send = () => passwordReset.handle(users, { userId, medium: undefined }, root())
    expect(await reasonOf(send())).toBe('EMAIL_NOT_RECOVERABLE')
    await verifyEmail(users, { userId, verificationCode: emailCode }, stranger())
    // It was the user's from the beginning.
    expect(await asked(userId, userName)).toBe(true)
    const doubted = await newHuman()
    const verification = { $case: 'isVerified' as const, value: false }
    await setEmail.handle(users, { userId: doubted.userId, email: doubted.email, verification }, root())
    expect(await asked(doubted.userId, doubted.userName)).toBe(false)
  })

  test('that the user changed and verified gets none for 72 hours, unless somebody else verified it', async () => {
    const { userId, userName } = await newHuman()
    const self = { ...root(), caller: { ...anonymous, userId, instanceRoles: ['IAM_OWNER'] } }
    await setEmail.handle(users, { userId, email: newAddress(), verification: verified }, self)
    expect(await asked(userId, userName)).toBe(false)
    const config = { ...users.config, PASSWORD_RESET_AFTER_EMAIL_CHANGE: 0 }
    await mailCode({ ...users, config }, userName, stranger())
    expect(await waiting(userId)).toBeDefined()
    const other = await newHuman()
    await setEmail.handle(users, { userId: other.userId, email: newAddress(), verification: verified }, root())
    expect(await asked(other.userId, other.userName)).toBe(true)
  })

  test('that the user verified by a code gets none for 72 hours either', async () => {
    const { userId, userName } = await newHuman()
    const request = { userId, email: newAddress(), verification: returned }
    const { verificationCode } = await setEmail.handle(users, request, root())
    await verifyEmail(users, { userId, verificationCode: verificationCode! }, stranger())
    expect(await asked(userId, userName)).toBe(false)
  })

  test('gets one code a minute, whoever asks for it', async () => {
    const { userId, userName } = await newHuman()
    await ask(userName)
    const first = await waiting(userId)
    await ask(userName)
    expect(await waiting(userId)).toBe(first)
    expect(await reasonOf(passwordReset.handle(users, { userId, medium: undefined }, root()))).toBe('CODE_THROTTLED')
  })

  test('gets five codes of an organization, and the refusal is silent', async () => {
    const { userId, userName, email } = await newHuman()
    for (let n = 0; n < 5; n++) {
      const other = await newHuman()
      await setEmail.handle(users, { userId: other.userId, email, verification: verified }, root())
      expect(await asked(other.userId, other.userName)).toBe(true)
    }
    expect(await asked(userId, userName)).toBe(false)
  })
})

describe('a notice to the former address', () => {
  const noticeOf = async (userId: string) => {
    const [row] = await users.sql<{ mail_id: string }[]>`
      select mail_id from unsent_mails where user_id = ${userId} and kind = 'email-changed'
    `
    return row?.mail_id
  }
  const change = (userId: string, context = users, email = newAddress()) =>
    setEmail.handle(context, { userId, email, verification: undefined }, root())

  test('is made where that address was verified, and holds no code and no link', async () => {
    const human = await newHuman()
    await change(human.userId)
    const mail = await contentOf(human.userId, (await noticeOf(human.userId))!, MailKind.MAIL_KIND_EMAIL_CHANGED)
    expect(mail).toMatchObject({ email: human.email, code: '', url: '', changeDate: expect.any(Date) })
    const unverified = await newHuman(returned)
    await change(unverified.userId)
    expect(await noticeOf(unverified.userId)).toBeUndefined()
  })

  test('is not made where the address stays', async () => {
    const { userId, email } = await newHuman()
    const verification = { $case: 'isVerified' as const, value: false }
    await setEmail.handle(users, { userId, email, verification }, root())
    expect(await noticeOf(userId)).toBeUndefined()
  })

  test('is recorded once, and then sent no more', async () => {
    const { userId } = await newHuman()
    await change(userId)
    const codeId = (await noticeOf(userId))!
    const record = () =>
      recordEmailCode(users, { userId, codeId, kind: MailKind.MAIL_KIND_EMAIL_CHANGED, mails: [] }, stranger())
    await Promise.all([record(), record()])
    await record()
    expect(await contentOf(userId, codeId, MailKind.MAIL_KIND_EMAIL_CHANGED)).toBeUndefined()
    const sent = await users.sql`
      select from events where aggregate_type = 'user.email.notice' and aggregate_id = ${userId} and type = 'sent'
    `
    expect(sent).toHaveLength(1)
  })

  test('does not make the change fail where there were too many, and the log says so', async () => {
    const warnings: unknown[] = []
    const log = { ...users.log, warn: (...said: unknown[]) => void warnings.push(said) } as unknown as TestUsers['log']
    const { userId, email } = await newHuman()
    for (let n = 0; n < 6; n++) {
      await setEmail.handle(users, { userId, email, verification: verified }, root())
      await change(userId, { ...users, log })
    }
    expect(warnings).toHaveLength(1)
    expect(JSON.stringify(warnings)).not.toContain('@')
  })

  test('is made even where other mails used up the limit of the address', async () => {
    const { userId, email } = await newHuman()
    for (let n = 0; n < 5; n++) await change((await newHuman()).userId, users, email)
    await change(userId)
    expect(await noticeOf(userId)).toBeDefined()
  })
})
