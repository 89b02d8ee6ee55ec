import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { addPerson, noteApplication, nothingNewer, said, Visitor } from '../../openid/authorization/testing/visitors.ts'
import { updateMyPassword } from '../operations/password/update-my-password.ts'
import { createSession } from '../../sessions/operations/session/create-session.ts'
import { setSession } from '../../sessions/operations/session/set-session.ts'
import { callIn, openUsers, serveDomains, signInBy, type TestUsers } from '../../testing/test-users.ts'

let database: TestDatabase
let users: TestUsers
let domains: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  domains = await serveDomains({}, {}, { copied: nothingNewer(['client']) })
  await noteApplication(users, 'client', { firstParty: true }, { organizationId: 'acme' })
}, 60_000)

afterAll(async () => {
  await Promise.all([users?.stop(), domains?.stop()])
  await database?.drop()
})

let made = 0
const newAddress = () => `2001:db8:${(++made).toString(16)}::/64`

interface Person {
  userId: string
  userName: string
}
/** Tries a password of a person from an address, and says what came of it. */
type Door = (person: Person, password: string, address: string) => Promise<string>

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'in',
    ({ reason }: RosterError) => reason,
  )
const callFrom = (clientAddress: string, userId = 'root'): Call => {
  const call = callIn('', clientAddress)
  return { ...call, caller: { ...call.caller, userId } }
}

const doors: Record<string, Door> = {
  CreateSession: ({ userName: loginName }, password, address) =>
    reasonOf(signInBy(users, { loginName, password }, callFrom(address))),
  SetSession: async ({ userId }, password, address) => {
    const lifetime = undefined
    const begun = await createSession.handle(
      users,
      { userId, loginName: '', password: '', lifetime },
      callFrom(address),
    )
    return reasonOf(setSession.handle(users, { ...begun, password, otpEmailCode: '', lifetime }, callFrom(address)))
  },
  'the page': async ({ userName }, password, address) => {
    const browser = Object.assign(new Visitor(users), { address })
    const shown = said(await browser.signIn(await browser.begin(), userName, password))
    return { 'sign-in 1': 'CREDENTIALS_INVALID', 'sign-in 2': 'SIGN_IN_THROTTLED' }[shown] ?? 'in'
  },
  UpdateMyPassword: async ({ userId }, oldPassword, address) => {
    const passwords = { oldPassword, newPassword: oldPassword }
    return reasonOf(updateMyPassword.handle(users, passwords, callFrom(address, userId)))
  },
}

const names = Object.keys(doors)

test.each(names)('five guesses at %s from an address shut every door there, and none elsewhere', async (name) => {
  const userName = `person-${made++}`
  const person = { userName, userId: await addPerson(users, userName) }
  const [attacker, elsewhere] = [newAddress(), newAddress()]
  for (let n = 0; n < 5; n++)
    expect(await doors[name]!(person, 'wrong-password', attacker)).toMatch(/^(CREDENTIALS|PASSWORD)_INVALID$/)
  const right = `${userName}-password`
  for (const other of names) {
    expect([other, await doors[other]!(person, right, attacker)]).toEqual([other, 'SIGN_IN_THROTTLED'])
    expect([other, await doors[other]!(person, right, elsewhere)]).toEqual([other, 'in'])
  }
})
