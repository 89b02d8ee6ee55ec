import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { offered, standard } from '#lib/credentials/argon2-parameters'
import type { RosterError } from '#lib/errors'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { addPerson } from '../../openid/authorization/testing/visitors.ts'
import { callIn, openUsers, serveDomains, signInBy, type TestUsers } from '../../testing/test-users.ts'

// What a check of a wrong password computes, by its memory and passes.
const works = vi.hoisted(() => [] as string[])
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>()
  const argon2 = (algorithm: 'argon2id', work: { memory: number; passes: number; message: string }, done: never) => {
    const { memory, passes, message } = work
    if (message === 'wrong') works.push(memory === 256 ? 'filler' : `m=${memory},t=${passes}`)
    return crypto.argon2(algorithm, work as never, done)
  }
  return { ...crypto, argon2 }
})
const { hashPassword } = await import('./password-hashing.ts')

const [dear, , , , cheap] = offered

let database: TestDatabase
let users: TestUsers
let domains: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users, { PASSWORD_HASHING: cheap })
  domains = await serveDomains({})
}, 60_000)
afterAll(async () => {
  vi.useRealTimers()
  await Promise.all([users?.stop(), domains?.stop()])
  await database?.drop()
})

let made = 0
/** Adds a person, whose stored hash has these parameters. */
async function personBy(parameters: string): Promise<string> {
  const userName = `person-${made++}`
  const userId = await addPerson(users, userName)
  const hash = await hashPassword(`${userName}-password`, undefined, parameters)
  await users.sql`update passwords set hash = ${hash} where user_id = ${userId}`
  return userName
}

const reasonOf = (loginName: string, password: string) =>
  signInBy(users, { loginName, password }, callIn('', `2001:db8:${(++made).toString(16)}::1`)).then(
    () => 'in',
    ({ reason }: RosterError) => reason,
  )

async function worksOf(loginName: string): Promise<string[]> {
  works.length = 0
  expect(await reasonOf(loginName, 'wrong')).toBe('CREDENTIALS_INVALID')
  return works.splice(0)
}

test('each check costs what the dearest stored hash does, whether the name is known, and how cheap its hash is', async () => {
  expect(await worksOf('nobody')).toEqual(['m=7168,t=5'])
  const [cheaper, dearer] = [await personBy(cheap), await personBy(dear)]
  await worksOf(dearer)
  expect(await worksOf('nobody')).toEqual(['m=47104,t=1'])
  expect(await worksOf(dearer)).toEqual(['m=47104,t=1'])
  expect(await worksOf(cheaper)).toEqual(['m=7168,t=5', 'filler'])
  const without = await personBy(standard)
  await users.sql`delete from passwords where hash like ${`%${standard}%`}`
  expect(await worksOf(without)).toEqual(['m=47104,t=1'])
  // An import may bring any others. The first check of one counts it.
  const imported = await personBy('m=8192,t=28,p=2')
  expect(await worksOf(imported)).toEqual(['m=8192,t=28'])
  expect(await worksOf('nobody')).toEqual(['m=8192,t=28'])
  expect(await worksOf(dearer)).toEqual(['m=47104,t=1', 'filler'])
  // Once nobody has it any more, nobody pays for it.
  expect(await reasonOf(imported, `${imported}-password`)).toBe('in')
  vi.setSystemTime(Date.now() + 5000)
  expect(await worksOf('nobody')).toEqual(['m=47104,t=1'])
})
