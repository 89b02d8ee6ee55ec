import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { addPerson, noteApplication, nothingNewer, told, Visitor } from '../../openid/authorization/testing/visitors.ts'
import { lockUser } from '../operations/user/lock-user.ts'
import { unlockUser } from '../../sessions/operations/unlock-user.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { changePassword } from './change-password.ts'

let database: TestDatabase
let users: TestUsers
let grants: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  grants = await serveDomains({}, {}, { copied: nothingNewer(['first']) })
  await noteApplication(users, 'first', { firstParty: true }, { organizationId: 'acme' })
}, 60_000)
afterAll(async () => {
  await Promise.all([users?.stop(), grants?.stop()])
  await database?.drop()
})

const silently = async (browser: Visitor) =>
  told(await browser.authorize({ clientId: 'first', prompt: 'none' }))['error'] ?? 'signed in'

test('a new password leaves the session of a browser that set it, and only that one, until something else ends it', async () => {
  const userId = await addPerson(users, 'ada')
  const browsers = [new Visitor(users), new Visitor(users)]
  for (const browser of browsers) await browser.signIn(await browser.begin({ clientId: 'first' }), 'ada')
  expect(await Promise.all(browsers.map(silently))).toEqual(['signed in', 'signed in'])
  const [first] = await users.sql<{ id: string }[]>`
    select session_id as id from tokens where user_id = ${userId} and session_id <> '' order by session_id limit 1
  `
  const change = (newPassword: string, sessionId: string) => {
    const call = callIn('acme')
    const caller = { ...call.caller, userId, sessionId }
    return changePassword(users, { userId, newPassword, field: 'newPassword' }, { ...call, caller })
  }
  await change('another password', first!.id)
  expect(await Promise.all(browsers.map(silently))).toEqual(['signed in', 'login_required'])
  await change('a third password', first!.id)
  expect(await silently(browsers[0]!)).toBe('signed in')
  await lockUser(users, { userId }, callIn('acme'))
  await unlockUser(users, { userId }, callIn('acme'))
  expect(await silently(browsers[0]!)).toBe('login_required')
  // It is not called back.
  await change('a fourth password', first!.id)
  expect(await silently(browsers[0]!)).toBe('login_required')
})
