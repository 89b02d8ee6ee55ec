import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { addPerson, nothingNewer, said, Visitor } from '../../openid/authorization/testing/visitors.ts'
import type { User } from '../../directory/events/user.ts'
import { openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { callIn } from '../../testing/test-users.ts'
import { findUserById } from '../../directory/login-names/login-user.ts'
import { lockUser } from '../../directory/operations/user/lock-user.ts'
import { changePassword } from '../../directory/passwords/change-password.ts'
import { deleteUserSessions } from '../../sessions/operations/session/delete-user-sessions.ts'
import { changeMyEmail } from './change-my-email.ts'
import { changeMyPassword } from './change-my-password.ts'
import { changeMyProfile } from './change-my-profile.ts'
import { downloadMyData } from './download-my-data.ts'
import { removeMe } from './remove-me.ts'

let database: TestDatabase
let users: TestUsers
let grants: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  grants = await serveDomains({}, {}, { copied: nothingNewer(['client']) })
}, 60_000)
afterEach(() => shiftClock(users.sql, '0 minutes'))
afterAll(async () => {
  await Promise.all([users?.stop(), grants?.stop()])
  await database?.drop()
})

const call = () => ({ ...callIn(''), caller: { ...callIn('').caller, userId: '' }, clientAddress: '2001:db8:ffff::1' })

/** A person at a page that was shown when the password was fresh. */
async function comeIn(name: string) {
  const userId = await addPerson(users, name)
  const browser = new Visitor(users)
  const page = await browser.signIn(await browser.account(), name)
  return { userId, browser, form: () => ({ ...formOf(page), browser: browser.cookie }) }
}

function formOf({ answer, formToken }: PageAnswer) {
  const userId = answer?.$case === 'account' ? answer.value.userId : ''
  return { userId, formToken, uiLocales: '' }
}

const sectionOf = ({ answer }: PageAnswer) => (answer?.$case === 'account' ? answer.value.section : undefined)
const matters = ['data', 'email', 'password', 'removal']

test('what matters asks for the password where it is older than ten minutes, once for all of it, and leads on', async () => {
  const { browser } = await comeIn('asked')
  await shiftClock(users.sql, '9 minutes')
  for (const section of matters) expect(sectionOf(await browser.account({ section }))).toBe(section)
  await shiftClock(users.sql, '11 minutes')
  for (const section of ['', 'sign-in', 'activity', 'apps'])
    expect(sectionOf(await browser.account({ section }))).toBe(section)
  for (const section of matters) expect(said(await browser.account({ section }))).toBe('sign-in 0 fixed')
  const asking = await browser.account({ section: 'password', uiLocales: 'de' })
  expect(said(await browser.signIn(asking, 'asked', 'wrong'))).toBe('sign-in 1 fixed')
  const page = await browser.signIn(asking, 'asked')
  expect([sectionOf(page), page.uiLocales]).toEqual(['password', 'de'])
  for (const section of matters) expect(sectionOf(await browser.account({ section }))).toBe(section)
})

test('a form that matters does nothing with an older one, and leads to the password; others do', async () => {
  const { userId, browser, form } = await comeIn('forms')
  const before = await users.store.load<User>('user', userId)
  await shiftClock(users.sql, '11 minutes')
  const forms = [
    () => changeMyEmail(users, { ...form(), email: 'thief@example.com' }, call()),
    () => changeMyPassword(users, { ...form(), password: 'the password of a thief' }, call()),
    () => removeMe(users, form(), call()),
    () => downloadMyData(users, form(), call()),
  ]
  for (const send of forms) expect(said(await browser.follow(await send()))).toBe('sign-in 0 fixed')
  expect((await users.store.load<User>('user', userId))!.sequence).toBe(before!.sequence)
  const names = { givenName: 'A', familyName: 'B', displayName: 'C', language: '' }
  await changeMyProfile(users, { ...form(), ...names }, call())
  expect((await users.store.load<User>('user', userId))!.state.human!.profile.displayName).toBe('C')
})

test('a fresh password in one browser frees no other, and that of another person frees nobody', async () => {
  const { browser, form } = await comeIn('first')
  await addPerson(users, 'other')
  await shiftClock(users.sql, '11 minutes')
  const elsewhere = new Visitor(users)
  await elsewhere.signIn(await elsewhere.account(), 'first')
  expect(said(await browser.account({ section: 'email' }))).toBe('sign-in 0 fixed')
  // In the same browser, as another person.
  await browser.signIn(await browser.choose(await browser.account({ prompt: 'select_account' }), ''), 'other')
  const refused = await changeMyEmail(users, { ...form(), email: 'thief@example.com' }, call())
  expect(refused.answer).toMatchObject({ $case: 'redirect', value: { location: '/ui/account/email' } })
})

test('a new password that only the mailbox stood for proves no more than that', async () => {
  const { userId, form } = await comeIn('mailed')
  await users.store.execute({
    aggregate: { type: 'user', id: userId },
    call: { ...callIn('acme'), caller: { ...callIn('acme').caller, userId } },
    decide: () => ({ events: [{ type: 'password.changed', payload: { byMail: true } }], answer: undefined }),
  })
  const browser = new Visitor(users)
  const page = await browser.signIn(await browser.account(), 'mailed')
  const request = { ...form(), ...formOf(page), browser: browser.cookie, password: 'a password of their own' }
  expect((await changeMyPassword(users, request, call())).answer).toMatchObject({
    value: { location: '/ui/account/sign-in?outcome=password-set' },
  })
  expect((await users.store.load<User>('user', userId))!.state.human!.passwordByMail).toBe(true)
})

test.each<[string, (userId: string) => Promise<unknown>]>([
  ['a lock', (userId) => lockUser(users, { userId }, callIn('acme'))],
  ['the end of all sessions', (userId) => deleteUserSessions.handle(users, { userId }, callIn('acme'))],
  [
    'another password',
    (userId) => changePassword(users, { userId, newPassword: 'of an owner', field: '' }, callIn('acme')),
  ],
])('%s ends a change of the password that its session has under way', async (name, end) => {
  const { userId, form } = await comeIn(name.replaceAll(' ', '-'))
  const passwordHashes = {
    ...users.passwordHashes,
    // It takes long.
    async hash(...given: Parameters<typeof users.passwordHashes.hash>) {
      await end(userId)
      return users.passwordHashes.hash(...given)
    },
  }
  const request = { ...form(), password: 'the password of a thief' }
  const { answer } = await changeMyPassword({ ...users, passwordHashes }, request, call())
  expect(answer).toMatchObject({ value: { location: '/ui/account/password' } })
  const { hash } = (await findUserById(users, userId))!
  expect(await users.passwordHashes.verify(request.password, hash, { lane: '' })).toBe(false)
})
