import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { addPerson, noteApplication, nothingNewer } from '../authorization/testing/visitors.ts'
import { keepLoginAddresses } from '../names/login-addresses.ts'
import { openUsers, serveDomains, type TestUsers } from '../test-users.ts'
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

// Milliseconds until the page after the address, and until that after a wrong code.
async function timesOf(email: string): Promise<number> {
  const browser = new Newcomer(users)
  const form = await browser.wish(await browser.begin())
  const began = performance.now()
  await browser.finish(await browser.register(form, { email }), { code: 'WRONG2' })
  return performance.now() - began
}

function median(times: number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1]!
}

test('an address with an account takes as long as one without, as far as two without take equally long', async () => {
  const [known, one, other]: [number[], number[], number[]] = [[], [], []]
  for (let n = 0; n < 60; n++) {
    one.push(await timesOf(newAddress()))
    known.push(await timesOf('known@example.com'))
    other.push(await timesOf(newAddress()))
  }
  const [ofKnown, ofOne, ofOther] = [known, one, other].map(median) as [number, number, number]
  const usual = (ofOne + ofOther) / 2
  expect(Math.abs(ofKnown - usual)).toBeLessThan(Math.max(3 * Math.abs(ofOne - ofOther), usual / 10))
}, 300_000)
