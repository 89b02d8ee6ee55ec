import { afterAll, beforeAll, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { expectEqualTimes } from '#test/support/equal-times'
import { addPerson, noteApplication, nothingNewer } from '../../openid/authorization/testing/visitors.ts'
import { keepLoginAddresses } from '../../directory/login-names/login-addresses.ts'
import { openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { newAddress, Newcomer, setPolicy } from './testing/newcomers.ts'

let database: TestDatabase
let users: TestUsers
let domains: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  const settings = { MAILS_PER_ADDRESS_IN_TEN_MINUTES: '1000', MAILS_PER_ADDRESS_A_DAY: '1000' }
  users = await openUsers(database.urls.users, settings)
  domains = await serveDomains({}, {}, { copied: nothingNewer(['client']) })
  await noteApplication(users, 'client')
  await setPolicy(users, 'owner', true)
  await keepLoginAddresses(users, await addPerson(users, 'known', 'owner'))
}, 60_000)

afterAll(async () => {
  await Promise.all([users?.stop(), domains?.stop()])
  await database?.drop()
})

test('an address with an account takes as long as one without', { timeout: 300_000 }, async () => {
  await expectEqualTimes(['new', 'known'], { tries: 40, share: 0.1 }, async (name) => {
    const browser = new Newcomer(users)
    const form = await browser.wish(await browser.begin())
    const email = name === 'known' ? 'known@example.com' : newAddress()
    await browser.finish(await browser.register(form, { email }), { code: 'WRONG2' })
  })
})
