import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { ok, unique, uniqueEmail } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'
import { startOwnHouse } from '../own-house.ts'

// With an allow-list of hosts, no caller can link elsewhere: see email-template.test.ts.
const byUrl = inject('roster').house === undefined
const why = byUrl ? ' (skipped: it takes a Roster without an allow-list)' : ''
let house: Awaited<ReturnType<typeof startOwnHouse>>

beforeAll(async () => {
  if (!byUrl) house = await startOwnHouse()
})
afterAll(() => house?.stop())

async function newUser(roles: string[] = []) {
  const [userName, password] = [unique('human'), unique('Password')]
  const profile = { firstName: 'A', lastName: 'B' }
  const request = { userName, profile, email: { email: uniqueEmail(), isVerified: true }, password }
  const { userId } = ok(await json('AddHumanUser', request, house.machine))
  if (roles.length > 0) ok(await json('AddOrganizationMember', { userId, roles }, house.machine))
  const { sessionToken: token } = ok(await json('CreateSession', { loginName: userName, password }, house))
  return { userId, token, url: house.url }
}

const own = 'http://localhost:8080'
const foreign = [
  'https://evil.example/{{.Code}}',
  'https://evil.example/?next=http://localhost:8080/{{.Code}}',
  'http://localhost:8080@evil.example/{{.Code}}',
  'http://localhost:8080.evil.example/{{.Code}}',
  'http://localhost:8081/{{.Code}}',
  'http://localhost/{{.Code}}',
  'http://{{.Code}}.localhost:8080/',
  'http://localhost:8080{{.OrgID}}/',
  'http://localhost:8080\\@evil.example/{{.Code}}',
  'javascript://localhost:8080/%0aalert({{.Code}})',
]

describe.skipIf(byUrl).each(over('grpc-web'))(`without an allow-list, over $encoding${why}`, ({ call }) => {
  test('a caller without user.write can link only to the service itself; a refusal changes nothing', async () => {
    const me = await newUser()
    const show = async () => ok(await json('GetUser', { userId: me.userId }, house.machine)).user
    const before = await show()
    for (const urlTemplate of foreign) {
      const answer = await call('SetEmail', { userId: me.userId, email: uniqueEmail(), sendCode: { urlTemplate } }, me)
      expect(factsOf(answer), urlTemplate).toMatchObject({ code: 3, fields: ['sendCode.urlTemplate'] })
    }
    expect(await show()).toEqual(before)
    const sendCode = { urlTemplate: `${own}/welcome?c={{.Code}}` }
    ok(await call('SetEmail', { userId: me.userId, email: uniqueEmail(), sendCode }, me))
    const again = await call('ResendEmailCode', { userId: me.userId, sendCode: { urlTemplate: foreign[0]! } }, me)
    expect(factsOf(again)).toMatchObject({ code: 3, fields: ['sendCode.urlTemplate'] })
    ok(await call('ResendEmailCode', { userId: me.userId, sendCode }, me))
  })

  test('a caller with user.write can link anywhere', async () => {
    const [manager, other] = [await newUser(['ORG_USER_MANAGER']), await newUser()]
    for (const { userId } of [manager, other])
      ok(await call('SetEmail', { userId, email: uniqueEmail(), sendCode: { urlTemplate: foreign[0]! } }, manager))
  })
})
