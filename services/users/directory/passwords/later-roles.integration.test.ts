import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import type { RosterError } from '#lib/errors'
import { anonymous } from '#lib/rpc/caller'
import { passwordReset } from '../../pages/recovery/password-reset.ts'
import { mailCode } from '../../pages/recovery/request-password-reset.ts'
import { resetPassword } from '../operations/password/reset-password.ts'
import { setPassword } from '../operations/password/set-password.ts'
import { addHumanUser } from '../operations/user/add-human-user.ts'
import { bulkAddUsers } from '../operations/user/bulk-add-users.ts'
import { resendEmailCode } from '../operations/user/resend-email-code.ts'
import { setEmail } from '../operations/user/set-email.ts'
import { verifyEmail } from '../operations/user/verify-email.ts'
import { getEmailCode } from '../../internal/mails/get-email-code.ts'
import { MailKind } from '#gen/roster/users/v1/internal_service'
import type { User } from '../events/user.ts'
import { organizationType } from '../events/organization.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'

let database: TestDatabase
let users: TestUsers
let grants: { stop(): Promise<void> }
const roles: Record<string, string[]> = { manager: ['IAM_USER_MANAGER'], root: ['IAM_OWNER'] }

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users, {
    PUBLIC_URL: 'https://id.example.com',
    PASSWORD_RESET_AFTER_EMAIL_CHANGE: '0',
  })
  grants = await serveDomains({}, roles)
})
afterAll(async () => {
  await grants?.stop()
  await users?.stop()
  await database?.drop()
})

const verified = { $case: 'isVerified' as const, value: true }
const returned = { $case: 'returnCode' as const, value: {} }
const newAddress = () => `${randomUUID()}@example.com`
const newPassword = () => `Password-${randomUUID()}`
const root = () => callIn('acme')
const stranger = () => ({ ...root(), clientAddress: randomUUID(), caller: anonymous })
const as = (userId: string) => ({ ...root(), caller: { ...anonymous, userId, instanceRoles: roles[userId] ?? [] } })
const promote = (userId: string) => void (roles[userId] = ['IAM_OWNER'])
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: RosterError) => error.reason,
  )

function human(verification: typeof verified | typeof returned = verified) {
  const profile = { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 as const }
  return { userName: randomUUID(), profile, email: { email: newAddress(), verification } }
}

async function newHuman(verification: typeof verified | typeof returned = verified, organizationId = 'acme') {
  const request = human(verification)
  const { userName } = request
  const call = { ...as('manager'), organizationId }
  const { userId, emailCode = '' } = await addHumanUser.handle(users, request, call)
  return { userId, userName, emailCode }
}

const codeFor = async (userId: string, caller = 'manager') =>
  (await passwordReset.handle(users, { userId, medium: returned }, as(caller))).verificationCode!
const reset = (userId: string, verificationCode: string) =>
  reasonOf(resetPassword(users, { userId, verificationCode, newPassword: newPassword() }, stranger()))

/** The code that waits to be mailed to the user. */
async function mailed(userId: string): Promise<string | undefined> {
  const [row] = await users.sql<{ mail_id: string }[]>`
    select mail_id from unsent_mails where user_id = ${userId} and kind = 'password-reset'
  `
  const kind = MailKind.MAIL_KIND_PASSWORD_RESET
  return row && (await getEmailCode(users, { userId, codeId: row.mail_id, kind, mails: [] })).code?.code
}

async function ask({ userId, userName }: { userId: string; userName: string }) {
  await mailCode(users, userName, stranger())
  return mailed(userId)
}

describe('after a user got roles beyond those of a manager', () => {
  test('a code for a password that the manager was given works no more, and one of an owner works', async () => {
    const { userId } = await newHuman()
    const code = await codeFor(userId)
    promote(userId)
    expect(await reset(userId, code)).toBe('CODE_INVALID')
    const request = {
      userId,
      newPassword: { password: newPassword() },
      verification: { $case: 'verificationCode' as const, value: code },
    }
    expect(await reasonOf(setPassword.handle(users, request, as(userId)))).toBe('CODE_INVALID')
    expect(await reset(userId, await codeFor(userId, 'root'))).toBe('done')
  })

  test('a code that went out in a link of the manager works no more', async () => {
    const { userId } = await newHuman()
    const medium = { $case: 'sendLink' as const, value: { urlTemplate: 'https://id.example.com/{{.Code}}' } }
    await passwordReset.handle(users, { userId, medium }, as('manager'))
    const code = (await mailed(userId))!
    promote(userId)
    expect(await reset(userId, code)).toBe('CODE_INVALID')
    const other = await newHuman()
    await passwordReset.handle(users, { userId: other.userId, medium: undefined }, as('manager'))
    const { email } = (await users.store.load<User>('user', other.userId))!.state.human!
    await setEmail.handle(users, { userId: other.userId, email, verification: verified }, root())
    promote(other.userId)
    expect(await reset(other.userId, (await mailed(other.userId))!)).toBe('done')
  })

  test('a code for an address that the manager was given works no more', async () => {
    const { userId, emailCode } = await newHuman(returned)
    const again = await newHuman(returned)
    const { verificationCode } = await resendEmailCode.handle(
      users,
      { userId: again.userId, verification: returned },
      as('manager'),
    )
    promote(userId)
    promote(again.userId)
    const verify = (id: string, code: string) =>
      reasonOf(verifyEmail(users, { userId: id, verificationCode: code }, stranger()))
    expect(await verify(userId, emailCode)).toBe('CODE_INVALID')
    expect(await verify(again.userId, verificationCode!)).toBe('CODE_INVALID')
    const plain = await newHuman(returned)
    expect(await verify(plain.userId, plain.emailCode)).toBe('done')
  })

  test('an address that the manager set recovers nothing, until an owner stands for it', async () => {
    const human = await newHuman()
    const { userId } = human
    const email = newAddress()
    await setEmail.handle(users, { userId, email, verification: verified }, as('manager'))
    promote(userId)
    expect(await ask(human)).toBeUndefined()
    const send = passwordReset.handle(users, { userId, medium: undefined }, root())
    expect(await reasonOf(send)).toBe('EMAIL_NOT_RECOVERABLE')
    await setEmail.handle(users, { userId, email, verification: verified }, root())
    expect(await reset(userId, (await ask(human))!)).toBe('done')
  })

  test('the address that the manager added the user with recovers nothing, until an owner stands for it', async () => {
    const early = await newHuman()
    const code = (await ask(early))!
    promote(early.userId)
    expect(await reset(early.userId, code)).toBe('CODE_INVALID')
    const human = await newHuman()
    const { userId } = human
    promote(userId)
    expect(await ask(human)).toBeUndefined()
    expect(await reasonOf(passwordReset.handle(users, { userId, medium: undefined }, root()))).toBe(
      'EMAIL_NOT_RECOVERABLE',
    )
    const { email } = (await users.store.load<User>('user', userId))!.state.human!
    await setEmail.handle(users, { userId, email, verification: verified }, root())
    expect(await reset(userId, (await ask(human))!)).toBe('done')
  })

  test('so does each that the manager added in bulk; one that an administrator added recovers the account', async () => {
    const add = async (caller: string) => {
      const request = human()
      const users_ = [{ user: { $case: 'human' as const, value: request } }]
      const { results } = await bulkAddUsers.handle(users, { users: users_ }, as(caller))
      const outcome = results[0]!.outcome
      if (outcome?.$case !== 'done') throw new Error('not added')
      promote(outcome.value.id)
      return ask({ userId: outcome.value.id, userName: request.userName })
    }
    expect(await add('manager')).toBeUndefined()
    expect(await add('root')).toBeDefined()
  })

  test('a code on its way to an address that the manager set works no more', async () => {
    const human = await newHuman()
    const { userId } = human
    await setEmail.handle(users, { userId, email: newAddress(), verification: verified }, as('manager'))
    const code = (await ask(human))!
    promote(userId)
    expect(await reset(userId, code)).toBe('CODE_INVALID')
  })

  test('an address that the manager set recovers the account once the user itself verified it', async () => {
    const verifiedBy = async (verifier: (userId: string) => ReturnType<typeof stranger>) => {
      const human = await newHuman()
      const { userId } = human
      const request = { userId, email: newAddress(), verification: returned }
      const { verificationCode } = await setEmail.handle(users, request, as('manager'))
      await verifyEmail(users, { userId, verificationCode: verificationCode! }, verifier(userId))
      promote(userId)
      return (await ask(human)) !== undefined
    }
    expect(await verifiedBy(stranger)).toBe(false)
    expect(await verifiedBy((userId) => ({ ...as(userId), clientAddress: randomUUID() }))).toBe(true)
  })
})

test('no user of a deactivated organization gets a code for a password, or uses one', async () => {
  const organizationId = randomUUID()
  const human = await newHuman(verified, organizationId)
  const { userId } = human
  const note = (state: 'active' | 'inactive', sequence: number) =>
    users.store.execute({
      aggregate: { type: organizationType, id: organizationId },
      call: root(),
      decide: () => ({ organizationId, events: [{ type: 'noted', payload: { state, sequence } }], answer: undefined }),
    })
  const code = await codeFor(userId)
  await note('inactive', 1)
  expect(await reset(userId, code)).toBe('CODE_INVALID')
  expect(await reasonOf(codeFor(userId))).toBe('USER_NOT_ACTIVE')
  expect(await ask(human)).toBeUndefined()
  await note('active', 2)
  expect(await reset(userId, code)).toBe('done')
})
