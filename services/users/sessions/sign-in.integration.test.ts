import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import type { RosterError } from '#lib/errors'
import { addHumanUser } from '../directory/operations/user/add-human-user.ts'
import { addMachineUser } from '../directory/operations/user/add-machine-user.ts'
import { ownerOfUser } from '../owners.ts'
import { callIn, openUsers, serveDomains, type TestUsers, signInBy } from '../testing/test-users.ts'

let [database, other]: TestDatabase[] = []
let [users, elsewhere]: TestUsers[] = []
let domains: { stop(): Promise<void> }

beforeAll(async () => {
  ;[database, other] = await Promise.all([createDatabase(), createDatabase()])
  ;[users, elsewhere] = await Promise.all([openUsers(database.urls.users), openUsers(other.urls.users)])
  domains = await serveDomains({ 'acme.localhost': 'acme', 'umbrella.localhost': 'umbrella' })
})

afterAll(async () => {
  await Promise.all([users?.stop(), elsewhere?.stop(), domains?.stop()])
  await Promise.all([database?.drop(), other?.drop()])
})

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'in',
    (error: RosterError) => error.reason,
  )
let address = 0
const fresh = () => `2001:db8::${(address++).toString(16)}`

describe('a human signs in', () => {
  const human = (organizationId: string, userName: string, password?: string) =>
    addHumanUser.handle(
      users!,
      {
        userId: undefined,
        userName,
        password,
        profile: {
          firstName: 'A',
          lastName: 'B',
          preferredLanguage: '',
          gender: 0,
        },
        email: {
          email: 'a@example.com',
          verification: {
            $case: 'isVerified',
            value: true,
          },
        },
      },
      callIn(organizationId),
    )
  const signIn = (loginName: string, password: string) =>
    signInBy(users!, { loginName, password }, { ...callIn(''), clientAddress: fresh() })

  test('with the bare name, which the first user has, and always with the domain of the organization', async () => {
    const { userId } = await human('acme', 'arthur', 'acme-password')
    expect(await reasonOf(signIn('arthur', 'acme-password'))).toBe('in')
    await human('umbrella', 'ARTHUR', 'umbrella-password')
    expect(await reasonOf(signIn('arthur', 'umbrella-password'))).toBe('CREDENTIALS_INVALID')
    expect(await reasonOf(signIn('arthur', 'acme-password'))).toBe('in')
    await signIn('arthur@ACME.localhost', 'acme-password')
    const [row] = await users!.sql`select user_id from tokens order by expires_at desc limit 1`
    expect(row).toEqual({ user_id: userId })
    expect(await reasonOf(signIn('arthur@umbrella.localhost', 'acme-password'))).toBe('CREDENTIALS_INVALID')
  })

  test('with a user name that contains an @', async () => {
    await human('acme', 'lancelot@lake.example', 'lake-password')
    expect(await reasonOf(signIn('lancelot@lake.example', 'lake-password'))).toBe('in')
    expect(await reasonOf(signIn('lancelot@lake.example@acme.localhost', 'lake-password'))).toBe('in')
  })

  test('although a user of another organization took the qualified name as a user name', async () => {
    await human('acme', 'victim', 'victim-password')
    await human('umbrella', 'victim@acme.localhost', 'squatter-password')
    expect(await reasonOf(signIn('victim@acme.localhost', 'victim-password'))).toBe('in')
    expect(await reasonOf(signIn('victim@acme.localhost', 'squatter-password'))).toBe('CREDENTIALS_INVALID')
    expect(await reasonOf(signIn('victim@acme.localhost@umbrella.localhost', 'squatter-password'))).toBe('in')
  })

  test('but not a machine, a human without a password, an unknown name or domain, or an empty name', async () => {
    await human('acme', 'nopassword')
    await addMachineUser(
      users!,
      { userName: 'robot', name: 'R', description: '', accessTokenType: 0, userId: undefined },
      callIn('acme'),
    )
    for (const name of ['robot', 'nopassword', 'no-one', 'no-one@acme.localhost', 'no-one@nowhere', '@', '@@', ' '])
      expect([name, await reasonOf(signIn(name, 'password'))]).toEqual([name, 'CREDENTIALS_INVALID'])
  })
})

test('the owner of a user comes from the right database, though two have a user of that id', async () => {
  const request = { userId: 'same-id', userName: 'same', name: 'S', description: '', accessTokenType: 0 as const }
  await addMachineUser(users!, request, callIn('acme'))
  expect(await ownerOfUser(users!, 'same-id')).toEqual({ userId: 'same-id', organizationId: 'acme' })
  expect(await ownerOfUser(elsewhere!, 'same-id')).toBeUndefined()
  await addMachineUser(elsewhere!, request, callIn('umbrella'))
  expect(await ownerOfUser(elsewhere!, 'same-id')).toEqual({ userId: 'same-id', organizationId: 'umbrella' })
})
