import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MailKind } from '#gen/roster/users/v1/internal_service'
import { shiftClock } from '#test/support/shift-clock'
import { recordEmailCode } from '../../internal/mails/record-email-code.ts'
import { setPassword } from '../operations/password/set-password.ts'
import { lockUser } from '../operations/user/lock-user.ts'
import { setEmail } from '../operations/user/set-email.ts'
import { verifyEmail } from '../operations/user/verify-email.ts'
import { signInBy } from '../../testing/test-users.ts'
import { hashPassword } from './password-hashing.ts'
import { newAddress, newPassword, openRecoveries, reasonOf, returned, root, verified } from './testing/recoveries.ts'

const recoveries = await openRecoveries()
const { users, stranger, newHuman, returnedCode, reset, ask, waiting, contentOf } = recoveries
afterAll(() => recoveries.stop())
beforeEach(() => recoveries.anotherClient())
afterEach(() => shiftClock(users.sql, '0'))

test('who has a password that is guessed first signs in with it', async () => {
  const { userId, userName } = await newHuman()
  await users.sql`update passwords set hash = ${await hashPassword('12345678')} where user_id = ${userId}`
  expect(await reasonOf(signInBy(users, { loginName: userName, password: '12345678' }, root()))).toBe('done')
})

describe('a code for a forgotten password', () => {
  test('is mailed to the verified address, with a link to the page, and gives a new password once', async () => {
    const { userId, userName, email } = await newHuman()
    await ask(userName)
    const mail = await contentOf(userId, (await waiting(userId))!)
    expect(mail!.email).toBe(email)
    expect(mail!.url).toBe(
      `https://id.example.com/ui/reset-password?organization_id=acme#userId=${userId}&code=${mail!.code}`,
    )
    const password = newPassword()
    expect(await reset(userId, mail!.code.toLowerCase(), password)).toBe('done')
    expect(await reasonOf(signInBy(users, { loginName: userName, password }, root()))).toBe('done')
    expect(await reset(userId, mail!.code)).toBe('CODE_INVALID')
  })

  test('stays good where the new password is one that is guessed first; a wrong code is said first', async () => {
    const { userId, email } = await newHuman()
    const code = await returnedCode(userId)
    for (const password of ['password', '12345678', email])
      expect(await reset(userId, code, password)).toBe('PASSWORD_TOO_COMMON')
    expect(await reset(userId, 'WRONG2', 'password')).toBe('CODE_INVALID')
    expect(await reset(userId, code)).toBe('done')
  })

  test('leaves the user at its sequence until it is used', async () => {
    const { userId, userName } = await newHuman()
    const before = await users.store.load('user', userId)
    await ask(userName)
    await reset(userId, 'WRONG2')
    expect(await users.store.load('user', userId)).toEqual({ ...before, readAt: expect.any(Date) })
  })

  test('ends all sessions when it is used', async () => {
    const { userId, userName, password } = await newHuman()
    await signInBy(users, { loginName: userName, password }, root())
    await signInBy(users, { loginName: userName, password }, root())
    expect(await reset(userId, await returnedCode(userId))).toBe('done')
    expect(await users.sql`select from tokens where user_id = ${userId}`).toHaveLength(0)
  })

  test('is dead after five wrong tries, also simultaneous ones', async () => {
    const { userId } = await newHuman()
    const code = await returnedCode(userId)
    const tries = [...Array.from({ length: 50 }, (_, n) => `WR${n}`), code]
    const reasons = await Promise.all(tries.map((typed) => reset(userId, typed)))
    expect(new Set(reasons)).toEqual(new Set(['CODE_INVALID']))
    const rejected = await users.sql`
      select from events where aggregate_id = ${userId} and aggregate_type = 'user.password.code' and type = 'rejected'
    `
    expect(rejected).toHaveLength(5)
  })

  test('is dead once another one is made', async () => {
    const { userId } = await newHuman()
    const [first, second] = [await returnedCode(userId), await returnedCode(userId)]
    expect([await reset(userId, first), await reset(userId, second)]).toEqual(['CODE_INVALID', 'done'])
  })

  test('is dead, and is not mailed, once the address or the password is another one', async () => {
    const changes = [
      ({ userId }: { userId: string }) =>
        setEmail.handle(users, { userId, email: newAddress(), verification: verified }, root()),
      // There and back again.
      async ({ userId, email }: { userId: string; email: string }) => {
        await setEmail.handle(users, { userId, email: newAddress(), verification: verified }, root())
        await setEmail.handle(users, { userId, email, verification: verified }, root())
      },
      async ({ userId }: { userId: string }) => {
        const change = {
          userId,
          newPassword: { password: newPassword(), changeRequired: false },
          verification: undefined,
        }
        await setPassword.handle(users, change, root())
      },
    ]
    for (const change of changes) {
      const human = await newHuman()
      await ask(human.userName)
      const codeId = (await waiting(human.userId))!
      const { code } = (await contentOf(human.userId, codeId))!
      await change(human)
      expect(await waiting(human.userId)).toBeUndefined()
      expect(await contentOf(human.userId, codeId)).toBeUndefined()
      expect(await reset(human.userId, code)).toBe('CODE_INVALID')
    }
  })

  test('of two uses at a time, one succeeds', async () => {
    const { userId } = await newHuman()
    const code = await returnedCode(userId)
    expect((await Promise.all([reset(userId, code), reset(userId, code)])).toSorted()).toEqual(['CODE_INVALID', 'done'])
  })

  test('changes nothing of a user that may not sign in, and is not mailed to it', async () => {
    const { userId, userName, password } = await newHuman()
    await ask(userName)
    const codeId = (await waiting(userId))!
    const { code } = (await contentOf(userId, codeId))!
    await lockUser(users, { userId }, root())
    expect(await contentOf(userId, codeId)).toBeUndefined()
    const [before] = await users.sql`select hash from passwords where user_id = ${userId}`
    expect(await reset(userId, code)).toBe('CODE_INVALID')
    expect((await users.sql`select hash from passwords where user_id = ${userId}`)[0]).toEqual(before)
    expect(password).not.toBe('')
    await ask(userName)
    expect(await waiting(userId)).toBeUndefined()
  })

  test('verifies no address, and the code of an address gives no password', async () => {
    const human = await newHuman(returned)
    const code = await returnedCode(human.userId)
    const verify = (verificationCode: string) =>
      reasonOf(verifyEmail(users, { userId: human.userId, verificationCode }, stranger()))
    expect(await verify(code)).toBe('CODE_INVALID')
    expect(await reset(human.userId, human.emailCode)).toBe('CODE_INVALID')
    expect(await verify(human.emailCode)).toBe('done')
    for (const other of [human.emailCode, '', '      ']) expect(await reset(human.userId, other)).toBe('CODE_INVALID')
    expect(await reset(human.userId, code)).toBe('done')
  })

  test('is over at its time, as that of an address is, by the clock of PostgreSQL', async () => {
    const [early, late] = [await newHuman(returned), await newHuman(returned)]
    const codes = [await returnedCode(early.userId), await returnedCode(late.userId)]
    const use = async ({ userId, emailCode }: typeof early, code: string) => [
      await reset(userId, code),
      await reasonOf(verifyEmail(users, { userId, verificationCode: emailCode }, stranger())),
    ]
    await shiftClock(users.sql, '3590 seconds')
    expect(await use(early, codes[0]!)).toEqual(['done', 'done'])
    await shiftClock(users.sql, '3601 seconds')
    expect(await use(late, codes[1]!)).toEqual(['CODE_INVALID', 'CODE_INVALID'])
  })

  test('is recorded as mailed once, and then mailed no more', async () => {
    const { userId, userName } = await newHuman()
    await ask(userName)
    const codeId = (await waiting(userId))!
    const record = () =>
      recordEmailCode(users, { userId, codeId, kind: MailKind.MAIL_KIND_PASSWORD_RESET, mails: [] }, stranger())
    await Promise.all([record(), record()])
    await record()
    expect(await waiting(userId)).toBeUndefined()
    expect(await contentOf(userId, codeId)).toBeUndefined()
    const sent = await users.sql`
      select from events where aggregate_type = 'user.password.code' and aggregate_id = ${userId} and type = 'sent'
    `
    expect(sent).toHaveLength(1)
  })
})
