import { beforeAll, describe, expect, inject, test } from 'vitest'
import postgres from 'postgres'
import { admin, type ExampleHuman, getUser, newHuman, newOrganization, ok, unique } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'

const { house } = inject('roster')
let home: string

beforeAll(async () => {
  home = await newOrganization()
})

const failuresOf = async ({ userId }: ExampleHuman) => {
  const filter = { aggregateTypes: ['user.signin'], aggregateIds: [userId] }
  const { events } = ok(await json('SearchOrganizationEvents', { filter }, admin(home)))
  return (events ?? []).map(({ type, data }: any) => [type, data])
}

describe.each(over('grpc'))('failed sign-ins over $encoding', ({ call }) => {
  const fail = async (loginName: string) =>
    expect(factsOf(await call('CreateSession', { loginName, password: unique('Wrong') })).reason).toBe(
      'CREDENTIALS_INVALID',
    )

  test('are published once a minute, and change nothing of the user', async () => {
    const human = await newHuman(home, { password: unique('Password') })
    const before = await getUser(human.userId)
    await fail(human.userName)
    await fail(human.userName.toUpperCase())
    const expected = [['roster.user.signin.failed.v1', {}]]
    await expect.poll(() => failuresOf(human), { timeout: 5000 }).toEqual(expected)
    expect(await getUser(human.userId)).toEqual(before)
    const headers = { 'if-match': `"${before.details.sequence}"` }
    ok(await call('UpdateUserName', { userId: human.userId, userName: unique('human') }, { ...admin(home), headers }))
    const { changes } = ok(await call('ListUserChanges', { userId: human.userId }, admin(home)))
    expect(changes.map(({ type }: { type: string }) => type)).toContain('roster.user.signin.failed.v1')
  })
})

test('a wrong present password is published as well', async () => {
  const human = await newHuman(home, { password: unique('Password') })
  const { sessionToken: token } = ok(
    await json('CreateSession', { loginName: human.userName, password: human.password }),
  )
  const passwords = { oldPassword: unique('Wrong'), newPassword: unique('Password') }
  expect(factsOf(await json('UpdateMyPassword', passwords, { token })).reason).toBe('PASSWORD_INVALID')
  await expect.poll(() => failuresOf(human), { timeout: 5000 }).toEqual([['roster.user.signin.failed.v1', {}]])
})

test.skipIf(!house)(
  `their count is recorded at the end of the minute${house ? '' : ' (skipped: a Roster by URL shows no database)'}`,
  async () => {
    const human = await newHuman(home, { password: unique('Password') })
    for (let count = 0; count < 3; count++)
      await json('CreateSession', { loginName: human.userName, password: unique('Wrong') })
    const sql = postgres(house!.databaseUrl, { max: 1 })
    const counted = async () =>
      (await sql`select count from roster_users.failed_sign_ins where user_id = ${human.userId}`)[0]?.['count']
    await expect.poll(counted, { timeout: 5000 }).toBe(3)
    await sql`
      update roster_users.failed_sign_ins set since = since - interval '1 minute' where user_id = ${human.userId}
    `
    await sql.end()
    const expected = [
      ['roster.user.signin.failed.v1', {}],
      ['roster.user.signin.failures.counted.v1', { count: 3, since: expect.any(String) }],
    ]
    await expect.poll(() => failuresOf(human), { timeout: 20_000 }).toEqual(expected)
  },
)
