import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { NoticeReason } from '#gen/roster/users/v1/sign_in_service'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { deriveCode } from '../../directory/email/code.ts'
import { takeBackLink } from '../../directory/email/take-back-link.ts'
import type { Verification } from '../../directory/email/verification.ts'
import type { User } from '../../directory/events/user.ts'
import { addHumanUser } from '../../directory/operations/user/add-human-user.ts'
import { deleteUser } from '../../directory/operations/user/delete-user.ts'
import { addApp } from '../../sessions/factors/testing/second-factors.ts'
import { generateRecoveryCodes } from '../../sessions/operations/factors/generate-recovery-codes.ts'
import { addOTPEmail, removeOTPEmail } from '../../sessions/operations/factors/otp-email.ts'
import { removeTOTP } from '../../sessions/operations/factors/remove-totp.ts'
import { setEmail } from '../../directory/operations/user/set-email.ts'
import { verifyEmail } from '../../directory/operations/user/verify-email.ts'
import { changePassword } from '../../directory/passwords/change-password.ts'
import { updateLoginPolicy } from '../../sessions/operations/settings/update-login-policy.ts'
import { addPerson } from '../../openid/authorization/testing/visitors.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { takeBackEmail } from './take-back-email.ts'

let database: TestDatabase
let users: TestUsers
let domains: Awaited<ReturnType<typeof serveDomains>>
const roles: Record<string, string[]> = { manager: ['IAM_USER_MANAGER'] }

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  domains = await serveDomains({}, roles)
}, 60_000)
afterEach(() => shiftClock(users.sql, '0 minutes'))
afterAll(async () => {
  await users?.stop()
  await domains?.stop()
  await database?.drop()
})

const verified: Verification = { $case: 'isVerified', value: true }
const returned: Verification = { $case: 'returnCode', value: {} }

const administrator = callIn('acme')
const as = (userId: string): Call => ({ ...administrator, caller: { ...administrator.caller, userId } })

const changeOf =
  (userId: string) =>
  (email: string, verification?: Verification, call = as(userId)) =>
    setEmail.handle(users, { userId, email, verification }, call)
const humanOf = (userId: string) => async () => (await users.store.load<User>('user', userId))!.state.human!

async function newPerson(name: string) {
  const userId = await addPerson(users, name)
  return { userId, email: `${name}@example.com`, change: changeOf(userId), human: humanOf(userId) }
}
type Person = Awaited<ReturnType<typeof newPerson>>

/** The person's browser changes the address, and its code is entered. Returns the last link. */
async function move({ userId, change, human }: Person, email: string): Promise<string> {
  await change(email)
  const { code, takeBacks } = await human()
  const verificationCode = deriveCode(users.keys, code!, userId, email)
  await verifyEmail(users, { userId, verificationCode }, as(userId))
  return takeBackLink(users, { id: userId, organizationId: 'acme' }, takeBacks?.at(-1)?.noticeId ?? '')
}

/** The person enters the whole link. */
const isDead = async (secret: string) => {
  const { answer } = await takeBackEmail(users, { secret, organizationId: '' }, administrator)
  return answer?.$case === 'notice' && answer.value.reason === NoticeReason.NOTICE_REASON_LINK_EXPIRED
}

test.each<[string, (person: Person, thiefs: string) => Promise<unknown>]>([
  ['sets the address', ({ change, email }) => change(email, verified, administrator)],
  ['sets it, with a code', ({ change, email }) => change(email, returned, administrator)],
  ['vouches for the present one', ({ change }, thiefs) => change(thiefs, verified, administrator)],
])(
  'no link takes an account back after an administrator %s, also one to an address of long ago',
  async (way, repair) => {
    const name = `repaired-${way.replaceAll(/\W/g, '')}`
    const person = await newPerson(name)
    const owners = await move(person, `thief-of-${name}@example.com`)
    await shiftClock(users.sql, '73 hours')
    // By now the thief's address recovers the account, so it gets a link.
    const thiefs = await move(person, `second-${name}@example.com`)
    expect((await person.human()).takeBacks).toHaveLength(1)
    await repair(person, `second-${name}@example.com`)
    const before = await person.human()
    expect([await isDead(thiefs), await isDead(owners)]).toEqual([true, true])
    expect(await person.human()).toEqual(before)
  },
)

test('a user who is back at a former address, by its code, ends the links of the ones since, and recovers as before', async () => {
  const person = await newPerson('back')
  await move(person, 'second@example.com')
  // Without the code it is only a word.
  await person.change('back@example.com')
  expect((await person.human()).takeBacks).toHaveLength(1)
  await move(person, 'third@example.com')
  await move(person, 'back@example.com')
  expect(await person.human()).toMatchObject({ takeBacks: [] })
  // A thief's next change can be taken back at once.
  const link = await move(person, 'thief@example.com')
  expect(await isDead(link)).toBe(false)
  expect((await person.human()).email).toBe('back@example.com')
})

test('a link restores the second factors of before the change, and until it ends users do not remove themselves', async () => {
  const person = await newPerson('factors')
  const { userId } = person
  const link = await move(person, 'thief-of-factors@example.com')
  await addOTPEmail.handle(users, { userId }, administrator)
  const removal = deleteUser(users, { userId, forgetNow: false }, as(userId))
  await expect(removal).rejects.toMatchObject({ reason: 'EMAIL_CHANGE_REVOCABLE' })
  expect(await isDead(link)).toBe(false)
  expect((await person.human()).secondFactors).toEqual([])

  await addOTPEmail.handle(users, { userId }, administrator)
  const second = await move(person, 'second-of-factors@example.com')
  await removeOTPEmail.handle(users, { userId }, administrator)
  expect(await isDead(second)).toBe(false)
  expect((await person.human()).secondFactors).toEqual(['otp-email'])
  await move(person, 'third-of-factors@example.com')
  await shiftClock(users.sql, '73 hours')
  await deleteUser(users, { userId, forgetNow: false }, as(userId))
})

test('a link ends an authenticator app that took the place of the one before, and recovery codes that did', async () => {
  const [person, kept] = [await newPerson('apps'), await newPerson('kept-apps')]
  for (const { userId } of [person, kept]) {
    await addApp(users, { userId, userName: '', email: '' })
    await generateRecoveryCodes.handle(users, { userId }, administrator)
  }
  const links = [await move(person, 'thief-of-apps@example.com'), await move(kept, 'thief-of-kept-apps@example.com')]
  const { userId } = person
  await removeTOTP.handle(users, { userId }, administrator)
  await addApp(users, { userId, userName: '', email: '' })
  await generateRecoveryCodes.handle(users, { userId }, administrator)
  for (const link of links) expect(await isDead(link)).toBe(false)
  expect([(await person.human()).secondFactors, (await kept.human()).secondFactors]).toEqual([
    [],
    ['totp', 'recovery-code'],
  ])
  for (const table of ['totp_secrets', 'recovery_codes'])
    expect(await users.sql`select from ${users.sql(table)} where user_id = ${userId}`).toHaveLength(0)
})

test('a change of address by its user is told or refused, whatever mails went out before it', async () => {
  const person = await newPerson('silent')
  for (let n = 0; n < 6; n++) {
    const change = { userId: person.userId, newPassword: `another password ${n}`, field: 'password' }
    await changePassword(users, change, as(person.userId))
  }
  // Others have a mailbox that looks like this one, and change it.
  for (let n = 0; n < 6; n++) {
    const other = await newPerson(`silent+${n}`)
    await other.change(`elsewhere-${n}@example.com`)
  }
  // An administrator, too: that goes on, and uses up nothing of the user's own.
  for (let n = 0; n < 6; n++) {
    await person.change(`administrators-${n}@example.com`, returned, administrator)
    await person.change(person.email, verified, administrator)
  }
  for (let n = 0; n < 5; n++) {
    await person.change(`own-${n}@example.com`, returned)
    expect((await person.human()).takeBacks).toMatchObject([{ email: person.email }])
    await person.change(person.email, verified, administrator)
  }
  const before = await person.human()
  await expect(person.change('own-6@example.com', returned)).rejects.toMatchObject({
    reason: 'MAILS_THROTTLED',
    metadata: { limit: 'notices' },
    retryAfter: expect.any(Number),
  })
  expect(await person.human()).toEqual(before)
})

test('an address that a manager chose takes no account back once the user has roles beyond those of the manager', async () => {
  const add = async () => {
    const profile = { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 as const }
    const [userName, email] = [randomUUID(), `${randomUUID()}@example.com`]
    const caller = { ...anonymous, userId: 'manager', instanceRoles: ['IAM_USER_MANAGER'] }
    const request = { userName, profile, email: { email, verification: verified } }
    const { userId } = await addHumanUser.handle(users, request, { ...administrator, caller })
    return { userId, email, change: changeOf(userId), human: humanOf(userId) }
  }
  const [colleague, owner, latest] = [await add(), await add(), await add()]
  roles[owner.userId] = ['IAM_OWNER']
  const links = [
    await move(colleague, 'colleague@example.com'),
    await move(owner, 'owner@example.com'),
    await move(latest, 'latest@example.com'),
  ]
  roles[latest.userId] = ['IAM_OWNER']
  expect(await Promise.all(links.map(isDead))).toEqual([false, true, true])
  // The manager still stands for it.
  expect(await colleague.human()).toMatchObject({ email: colleague.email, emailSetBy: 'manager' })
  expect((await owner.human()).email).toBe('owner@example.com')
})

test.each([
  ['a new password', {}, NoticeReason.NOTICE_REASON_TAKEN_BACK],
  ['an administrator', { hidePasswordReset: true }, NoticeReason.NOTICE_REASON_TAKEN_BACK_WITHOUT_RESET],
  [
    'a mailed code',
    { allowMailedCodes: true, allowUsernamePassword: false },
    NoticeReason.NOTICE_REASON_TAKEN_BACK_BY_CODE,
  ],
])('who took the account back is led to what lets them in by the policy: %s', async (way, settings, reason) => {
  const name = `led-${way.replaceAll(' ', '-')}`
  const person = await newPerson(name)
  const secret = await move(person, `thief-of-${name}@example.com`)
  await updateLoginPolicy.handle(users, { settings }, administrator)
  const { answer } = await takeBackEmail(users, { secret, organizationId: '' }, administrator)
  await updateLoginPolicy.handle(users, { settings: {} }, administrator)
  expect(answer?.value).toMatchObject({ reason })
})
