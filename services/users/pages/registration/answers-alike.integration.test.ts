import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { counting } from '#test/support/publishing'
import { createStore } from '#lib/eventstore/store'
import { addPerson, noteApplication, nothingNewer } from '../../openid/authorization/testing/visitors.ts'
import { model } from '../../model.ts'
import { keepLoginAddresses } from '../../directory/login-names/login-addresses.ts'
import { lockUser } from '../../directory/operations/user/lock-user.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { newAddress, Newcomer, setPolicy } from './testing/newcomers.ts'

let database: TestDatabase
let opened: TestUsers
let users: TestUsers
let domains: { stop(): Promise<void> }
const counted = { statements: 0, macs: 0 }

beforeAll(async () => {
  database = await createDatabase()
  opened = await openUsers(database.urls.users)
  domains = await serveDomains({}, {}, { copied: nothingNewer(['client']) })
  const sql = new Proxy(
    counting(opened.sql, () => counted.statements++),
    // Whether a replica of another release came is asked now and then.
    { apply: (all, self, args) => Reflect.apply(isAboutReleases(args) ? opened.sql : all, self, args) as unknown },
  )
  const store = createStore(sql, model, opened.log, () => {}, undefined, { personal: opened.personal })
  const { keys } = opened
  const mac: typeof keys.mac = (...args) => (counted.macs++, keys.mac(...args))
  users = { ...opened, sql, store, keys: { ...keys, mac } }
  await noteApplication(users, 'client')
  await setPolicy(users, 'owner', true)
}, 60_000)

afterAll(async () => {
  await Promise.all([opened?.stop(), domains?.stop()])
  await database?.drop()
})

const isAboutReleases = ([text]: unknown[]) => String(text).includes('pg_stat_activity')

async function costOf(work: () => Promise<unknown>) {
  Object.assign(counted, { statements: 0, macs: 0 })
  await work()
  return { ...counted }
}

// What a browser sees of a registration, and what it cost.
async function tried(email: string) {
  const browser = new Newcomer(users)
  const form = await browser.wish(await browser.begin())
  const before = browser.cookie
  let page = form
  const asked = await costOf(async () => (page = await browser.register(form, { email })))
  let after = page
  const wrong = await costOf(async () => (after = await browser.finish(page, { code: 'WRONG2' })))
  const seen = [page, after].map(({ answer, newBrowser }) => [answer, newBrowser, browser.cookie === before])
  return { asked, wrong, seen: JSON.stringify(seen).replaceAll(email, 'the address') }
}

test('an address gets the same pages and cookies for the same work, whether or not it has an account', async () => {
  const [known, locked] = [await addPerson(users, 'known', 'owner'), await addPerson(users, 'locked', 'owner')]
  for (const userId of [known, locked]) await keepLoginAddresses(users, userId)
  await lockUser(users, { userId: locked }, callIn('owner'))
  await addPerson(users, 'not-followed', 'owner')
  const one = await tried(newAddress())
  expect(one.seen).toContain('registrationCode')
  for (const name of ['known', 'locked', 'not-followed']) expect(await tried(`${name}@example.com`)).toEqual(one)
})
