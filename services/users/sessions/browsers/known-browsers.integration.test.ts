import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { addPerson, nothingNewer, Visitor } from '../../openid/authorization/testing/visitors.ts'
import { setEmail } from '../../directory/operations/user/set-email.ts'
import { kindOf } from '../../internal/mails/mail-kinds.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { updateLoginPolicy } from '../operations/settings/update-login-policy.ts'
import { deleteKnownBrowsers } from './known-browsers.ts'
import { deleteBrowsers } from './session-cookie.ts'
import { signInMail } from './sign-in-mail.ts'

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

async function mailsOf(userId: string): Promise<string[]> {
  const rows = await users.sql<{ id: string }[]>`
    select mail_id as id from unsent_mails where user_id = ${userId} and kind = 'new-sign-in' order by requested_at
  `
  return rows.map(({ id }) => id)
}

/** Signs in where nobody of that name is signed in, and out again. */
async function visit(browser: Visitor, name: string): Promise<void> {
  const asked = await browser.account()
  await browser.leave(await browser.signIn(asked, name), 'here')
  // The browser is noted after the answer.
  await users.afterResponse.stop()
}

test('a sign-in is told by mail where the browser is another one than before, once for each', async () => {
  const ada = await addPerson(users, 'ada')
  const [first, second] = [new Visitor(users), new Visitor(users)]
  await visit(first, 'ada')
  await visit(first, 'ada')
  expect(await mailsOf(ada)).toEqual([])
  // Half a year later nobody is signed in anywhere. The browser still has its cookie.
  await shiftClock(users.sql, '180 days')
  await deleteBrowsers(users.sql)
  await deleteKnownBrowsers(users.sql)
  await visit(first, 'ada')
  expect(await mailsOf(ada)).toEqual([])
  await visit(second, 'ada')
  await visit(second, 'ada')
  const [mailId, ...others] = await mailsOf(ada)
  expect(others).toEqual([])
  const mail = { userId: ada, codeId: mailId! }
  expect(kindOf(signInMail.number)).toBe(signInMail)
  expect(await signInMail.content(users, mail)).toMatchObject({
    email: 'ada@example.com',
    url: `${users.config.PUBLIC_URL}/ui/account/activity`,
    changeDate: expect.any(Date),
  })
  await signInMail.end(users, mail, callIn(''))
  expect(await signInMail.content(users, mail)).toBeUndefined()
  // What one person is known by tells nothing of another.
  const grace = await addPerson(users, 'grace')
  await visit(second, 'grace')
  await visit(first, 'grace')
  expect(await mailsOf(grace)).toHaveLength(1)
})

test('a wrong password in another browser is none, and of an address that is not verified nobody is told', async () => {
  const userId = await addPerson(users, 'unproved')
  await visit(new Visitor(users), 'unproved')
  const other = new Visitor(users)
  await other.signIn(await other.account(), 'unproved', 'wrong')
  expect(await mailsOf(userId)).toEqual([])
  const email = 'another@example.com'
  await setEmail.handle(users, { userId, email, verification: undefined }, callIn('acme'))
  await visit(other, 'unproved')
  expect(await mailsOf(userId)).toEqual([])
})

test('a policy may say that nobody is told', async () => {
  const userId = await addPerson(users, 'quiet', 'quiet')
  await updateLoginPolicy.handle(users, { settings: { tellOfSignIns: false } }, callIn('quiet'))
  for (const browser of [new Visitor(users), new Visitor(users)]) await visit(browser, 'quiet')
  expect(await mailsOf(userId)).toEqual([])
})

test('ten mails at a time are enough, whoever has the password', async () => {
  const userId = await addPerson(users, 'flooded')
  for (let n = 0; n < 13; n++) await visit(new Visitor(users), 'flooded')
  expect(await mailsOf(userId)).toHaveLength(10)
})
