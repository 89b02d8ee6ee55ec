import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MailKind } from '#gen/roster/users/v1/internal_service'
import type { RosterError } from '#lib/errors'
import { type Answers, keepAnswers, onceId } from '#lib/eventstore/once'
import { createStore } from '#lib/eventstore/store'
import { anonymous } from '#lib/rpc/caller'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { counting } from '#test/support/publishing'
import { getEmailCode } from '../operations/internal/get-email-code.ts'
import { recordEmailCode } from '../operations/internal/record-email-code.ts'
import { passwordReset } from '../operations/password/password-reset.ts'
import { mailCode } from '../operations/password/request-password-reset.ts'
import { resetPassword } from '../operations/password/reset-password.ts'
import { addHumanUser } from '../operations/user/add-human-user.ts'
import { addMachineUser } from '../operations/user/add-machine-user.ts'
import { lockUser } from '../operations/user/lock-user.ts'
import { setEmail } from '../operations/user/set-email.ts'
import { verifyEmail } from '../operations/user/verify-email.ts'
import { createSession } from '../operations/session/create-session.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../test-users.ts'
import { model } from '../model.ts'

let database: TestDatabase
let users: TestUsers
let grants: { stop(): Promise<void> }
let answers: Answers
let statements = 0
let macs = 0

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users, { PUBLIC_URL: 'https://id.example.com' })
  grants = await serveDomains({})
  const sql = counting(users.sql, () => statements++)
  answers = keepAnswers(sql, users.keys, users.log)
  const store = createStore(sql, model, users.log, () => {}, answers, users)
  const { keys } = users
  const mac: typeof keys.mac = (...args) => (macs++, keys.mac(...args))
  users = { ...users, store, keys: { ...keys, mac } }
})
afterAll(async () => {
  answers?.stop()
  await grants?.stop()
  await users?.stop()
  await database?.drop()
})
// Each test is another client.
let client = ''
beforeEach(() => {
  client = `203.0.113.${Math.floor(Math.random() * 250)}-${randomUUID()}`
})

const root = () => callIn('acme')
const nobody = () => ({ ...callIn('acme', client), caller: anonymous })
const verified = { $case: 'isVerified' as const, value: true }
const returned = { $case: 'returnCode' as const, value: {} }
const newAddress = () => `${randomUUID()}@example.com`

async function newHuman(verification: typeof verified | typeof returned = verified) {
  const profile = { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 as const }
  const [userName, password, email] = [randomUUID(), randomUUID(), newAddress()]
  const request = { userName, password, profile, email: { email, verification } }
  const { userId, emailCode = '' } = await addHumanUser.handle(users, request, root())
  return { userId, userName, password, email, emailCode }
}

const returnedCode = async (userId: string) =>
  (await passwordReset.handle(users, { userId, medium: returned }, root())).verificationCode!
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: RosterError) => error.reason,
  )
const newPassword = () => `Password-${randomUUID()}`
const reset = (userId: string, verificationCode: string, password = newPassword()) =>
  reasonOf(resetPassword(users, { userId, verificationCode, newPassword: password }, nobody()))
const ask = (userName: string) => mailCode(users, userName, nobody())

/** The id of the code that waits to be mailed to the user. */
async function waiting(userId: string): Promise<string | undefined> {
  const [row] = await users.sql<{ mail_id: string }[]>`
    select mail_id from unsent_mails where user_id = ${userId} and kind = 'password-reset'
  `
  return row?.mail_id
}

const contentOf = async (userId: string, codeId: string, kind: MailKind = MailKind.MAIL_KIND_PASSWORD_RESET) =>
  (await getEmailCode(users, { userId, codeId, kind, mails: [] })).code

/** The code that would be mailed now. */
async function mailedCode(userId: string): Promise<string | undefined> {
  const codeId = await waiting(userId)
  return codeId === undefined ? undefined : (await contentOf(userId, codeId))?.code
}

describe('a code for a forgotten password', () => {
  test('is mailed to the verified address, with a link to the page, and gives a new password once', async () => {
    const { userId, userName, email } = await newHuman()
    await ask(userName)
    const mail = await contentOf(userId, (await waiting(userId))!)
    expect(mail!.email).toBe(email)
    expect(mail!.url).toBe(`https://id.example.com/ui/reset-password#userId=${userId}&code=${mail!.code}`)
    const password = newPassword()
    expect(await reset(userId, mail!.code.toLowerCase(), password)).toBe('done')
    expect(await reasonOf(createSession(users, { loginName: userName, password }, root()))).toBe('done')
    expect(await reset(userId, mail!.code)).toBe('CODE_INVALID')
  })

  test('leaves the user at its sequence until it is used', async () => {
    const { userId, userName } = await newHuman()
    const before = await users.store.load('user', userId)
    await ask(userName)
    await reset(userId, 'WRONG2')
    expect(await users.store.load('user', userId)).toEqual(before)
  })

  test('ends all sessions when it is used', async () => {
    const { userId, userName, password } = await newHuman()
    await createSession(users, { loginName: userName, password }, root())
    await createSession(users, { loginName: userName, password }, root())
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
      async ({ userId, userName }: { userId: string; userName: string }) => {
        const code = (await mailedCode(userId))!
        await Promise.all([reset(userId, code), reset(userId, code)])
        expect(await waiting(userId)).toBeUndefined()
        void userName
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
      reasonOf(verifyEmail(users, { userId: human.userId, verificationCode }, nobody()))
    expect(await verify(code)).toBe('CODE_INVALID')
    expect(await reset(human.userId, human.emailCode)).toBe('CODE_INVALID')
    expect([await verify(human.emailCode), await reset(human.userId, code)]).toEqual(['done', 'done'])
  })

  test('is recorded as mailed once, and then mailed no more', async () => {
    const { userId, userName } = await newHuman()
    await ask(userName)
    const codeId = (await waiting(userId))!
    const record = () =>
      recordEmailCode(users, { userId, codeId, kind: MailKind.MAIL_KIND_PASSWORD_RESET, mails: [] }, nobody())
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

describe('an address', () => {
  const asked = async (userId: string, userName: string) => {
    await ask(userName)
    return (await waiting(userId)) !== undefined
  }

  test('gets no code unless it is verified', async () => {
    const { userId, userName, emailCode } = await newHuman(returned)
    expect(await asked(userId, userName)).toBe(false)
    const send = () => passwordReset.handle(users, { userId, medium: undefined }, root())
    expect(await reasonOf(send())).toBe('EMAIL_NOT_RECOVERABLE')
    await verifyEmail(users, { userId, verificationCode: emailCode }, nobody())
    // It was the user's from the beginning.
    expect(await asked(userId, userName)).toBe(true)
  })

  test('that the user changed and verified gets none for a day, unless somebody else verified it', async () => {
    const { userId, userName } = await newHuman()
    const self = { ...root(), caller: { ...anonymous, userId, instanceRoles: ['IAM_OWNER'] } }
    await setEmail.handle(users, { userId, email: newAddress(), verification: verified }, self)
    expect(await asked(userId, userName)).toBe(false)
    const config = { ...users.config, PASSWORD_RESET_AFTER_EMAIL_CHANGE: 0 }
    await mailCode({ ...users, config }, userName, nobody())
    expect(await waiting(userId)).toBeDefined()
    const other = await newHuman()
    await setEmail.handle(users, { userId: other.userId, email: newAddress(), verification: verified }, root())
    expect(await asked(other.userId, other.userName)).toBe(true)
  })

  test('that the user verified by a code gets none for a day either', async () => {
    const { userId, userName } = await newHuman()
    const request = { userId, email: newAddress(), verification: returned }
    const { verificationCode } = await setEmail.handle(users, request, root())
    await verifyEmail(users, { userId, verificationCode: verificationCode! }, nobody())
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

  test('gets no more mails than any other address, and the refusal is silent', async () => {
    const { userId, userName, email } = await newHuman()
    for (let n = 0; n < 5; n++) {
      const { userId: other } = await newHuman()
      await setEmail.handle(users, { userId: other, email, verification: undefined }, root())
    }
    expect(await asked(userId, userName)).toBe(false)
  })
})

test('a client gets twenty requests at once, whatever names it asks for', async () => {
  for (let n = 0; n < 20; n++) await ask(randomUUID())
  const { userId, userName } = await newHuman()
  await ask(userName)
  expect(await waiting(userId)).toBeUndefined()
  client = `198.51.100.1-${randomUUID()}`
  await ask(userName)
  expect(await waiting(userId)).toBeDefined()
})

test('a request is stored alike under an Idempotency-Key for every name, so that its repetition tells nothing', async () => {
  const [known, locked, full] = [await newHuman(), await newHuman(), await newHuman()]
  await lockUser(users, { userId: locked.userId }, root())
  for (let n = 0; n < 5; n++) {
    const { userId } = await newHuman()
    await setEmail.handle(users, { userId, email: full.email, verification: undefined }, root())
  }
  const machine = { userName: randomUUID(), name: 'M', description: '', accessTokenType: 0 as const }
  await addMachineUser(users, machine, root())
  for (const name of [known.userName, locked.userName, full.userName, machine.userName, randomUUID()]) {
    const once = { id: onceId([name]), request: name, encode: () => Buffer.from('made') }
    await mailCode(users, name, { ...nobody(), once })
    const again = await answers.once(once, () => Promise.reject(new Error('not stored')))
    expect(again.replayed).toBe(true)
  }
})

test('a wrong code costs the same and is stored alike, whether the user or a code exists or not', async () => {
  const withCode = await newHuman()
  await returnedCode(withCode.userId)
  const machine = { userName: randomUUID(), name: 'M', description: '', accessTokenType: 0 as const }
  const all = [
    withCode.userId,
    (await newHuman()).userId,
    (await addMachineUser(users, machine, root())).userId,
    randomUUID(),
  ]
  for (const userId of all) {
    ;[statements, macs] = [0, 0]
    expect(await reset(userId, 'WRONG2')).toBe('CODE_INVALID')
    // A look, the look of the decision, and its transaction.
    expect({ statements, macs }).toEqual({ statements: 3, macs: 2 })
    const once = { id: onceId([randomUUID()]), request: userId, encode: () => Buffer.from('made') }
    const request = { userId, verificationCode: 'WRONG2', newPassword: newPassword() }
    const work = () => resetPassword(users, request, { ...nobody(), once }).then(() => Buffer.from('made'))
    expect((await answers.once(once, work).catch((error: RosterError) => error)).replayed ?? false).toBe(false)
    expect((await answers.once(once, work).catch((error: RosterError) => error)).replayed).toBe(true)
  }
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
      recordEmailCode(users, { userId, codeId, kind: MailKind.MAIL_KIND_EMAIL_CHANGED, mails: [] }, nobody())
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
