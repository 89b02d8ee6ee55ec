import { afterAll, beforeAll, test } from 'vitest'
import type { RosterError } from '#lib/errors'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { expectEqualTimes } from '#test/support/equal-times'
import { offered } from '#lib/credentials/argon2-parameters'
import { hashPassword } from '../directory/passwords/password-hashing.ts'
import { updateLoginPolicy } from './operations/settings/update-login-policy.ts'
import { addMachineUser } from '../directory/operations/user/add-machine-user.ts'
import { lockUser } from '../directory/operations/user/lock-user.ts'
import { addPerson, noteApplication, nothingNewer, Visitor } from '../openid/authorization/testing/visitors.ts'
import { callIn, openUsers, serveDomains, signInBy, type TestUsers } from '../testing/test-users.ts'

let database: TestDatabase
let users: TestUsers
let domains: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  domains = await serveDomains({}, {}, { copied: nothingNewer(['client']) })
  await noteApplication(users, 'client')
  await addPerson(users, 'known', 'owner')
  const locked = await addPerson(users, 'locked', 'owner')
  await lockUser(users, { userId: locked }, callIn('owner'))
  const machine = { userName: 'machine', name: 'M', description: '', accessTokenType: 0 as const, userId: undefined }
  await addMachineUser(users, machine, callIn('owner'))
}, 60_000)

afterAll(async () => {
  await Promise.all([users?.stop(), domains?.stop()])
  await database?.drop()
})

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'in',
    ({ reason }: RosterError) => reason,
  )
const wrong = 'a wrong password'
let tries = 0
const byApi = (loginName: string) => {
  const clientAddress = `2001:db8:${(tries++).toString(16)}::1`
  return reasonOf(signInBy(users, { loginName, password: wrong }, { ...callIn(''), clientAddress }))
}

const browserOf = async () => {
  const browser = new Visitor(users)
  const page = await browser.begin()
  return (loginName: string) => browser.post(page, { loginName, password: wrong })
}

test.each([
  ['at the API', ['unknown', 'known', 'locked', 'machine'], async () => byApi],
  ['on the page', ['unknown', 'known'], browserOf],
])('%s a wrong password takes as long for %j', { timeout: 300_000 }, async (_, names, begin) => {
  const tryName = await begin()
  await expectEqualTimes(names, { tries: 40, share: 0.05 }, async (name) => {
    await tryName(name)
    // Too many failures of a name, or of an address, have another answer.
    await users.sql`delete from turns`
  })
})

test('a wrong password takes as long where hashes of several parameters are stored', { timeout: 300_000 }, async () => {
  for (const parameters of [offered[0], offered[4]]) {
    const userId = await addPerson(users, parameters, 'owner')
    const hash = await hashPassword('another password', undefined, parameters)
    await users.sql`update passwords set hash = ${hash} where user_id = ${userId}`
  }
  // These hashes came without the instance: now it knows of them, and times them.
  for (const name of [offered[0], offered[4]]) await byApi(name)
  await expectEqualTimes(['unknown', offered[0], offered[4], 'known'], { tries: 40, share: 0.05 }, async (name) => {
    await byApi(name)
    await users.sql`delete from turns`
  })
})

test('a wrong mailed code takes as long for a name that nobody has', { timeout: 300_000 }, async () => {
  const settings = { allowMailedCodes: true, allowUsernamePassword: false }
  await updateLoginPolicy.handle(users, { settings }, callIn('owner'))
  const asked = async (loginName: string) => {
    const browser = new Visitor(users)
    const page = await browser.post(await browser.begin(), { loginName, action: 'mail-code' })
    return { browser, page: await browser.follow(page) }
  }
  const pages = { known: await asked('known'), unknown: await asked('unknown') }
  await users.afterResponse.stop()
  await expectEqualTimes(['unknown', 'known'], { tries: 40, share: 0.05 }, async (name) => {
    const { browser, page } = pages[name as keyof typeof pages]
    await browser.post(page, { code: 'ZZZZZZ', action: 'check-code' })
    // Too many tries of a code have another answer.
    await users.sql`update secrets set tries = 0`
  })
})
