import { domainToASCII } from 'node:url'
import { create, toBinary } from '@bufbuild/protobuf'
import { SetEmailRequestSchema } from '@zitadel/proto/zitadel/user/v2/user_service_pb.js'
import { beforeAll, describe, expect, test } from 'vitest'
import { admin, getUser, newHuman, newOrganization, ok, profile, unique, uniqueEmail } from '../../examples/people.ts'
import { type Answer, factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'
import { hasMailbox, mailCount, mailTo } from '../mailbox.ts'
import { ways } from '../zitadel/send.ts'

let home: string
const mailbox = hasMailbox() ? '' : ' (skipped: ROSTER_E2E_MAILBOX_URL is not set)'
const reasonOf = (answer: Answer) => factsOf(answer).reason

beforeAll(async () => {
  home = await newOrganization()
})

// In one encoding: an address asks for twenty codes at once.
const respelled = [
  [
    'its domain in another case',
    'ada@Example.com',
    (email: string) => email.toUpperCase().replace(/^.*@/, (local) => local.toLowerCase()),
  ],
  ['in capital letters', 'ada@example.com', (email: string) => email.toUpperCase()],
  ['its domain in Punycode', 'ada@münchen.example', (email: string) => mailed(email)],
  ['its domain in Unicode', 'ada@xn--mnchen-3ya.example', (email: string) => email.replace(/@.*/, '@MÜNCHEN.example')],
] as const

test.skipIf(!hasMailbox()).each(respelled)(
  `the verified address with %s is the same address: no notice, and it still recovers the password${mailbox}`,
  async (_, example, respell) => {
    const email = example.replace('ada', unique('ada'))
    const { userId, userName } = await newHuman(home, { email })
    const before = await getUser(userId)
    for (const choice of [{}, { sendCode: {} }, { returnCode: {} }])
      expect(reasonOf(await json('SetEmail', { userId, email: respell(email), ...choice }, admin(home)))).toBe(
        'EMAIL_NOT_CHANGED',
      )
    ok(await json('SetEmail', { userId, email: respell(email), isVerified: true }, admin(home)))
    expect(await getUser(userId)).toEqual(before)
    expect(before.human.email).toEqual({ email, isVerified: true })
    ok(await json('RequestPasswordReset', { loginName: userName }))
    await mailTo(mailed(email))
    expect(await mailCount(mailed(email))).toBe(1)
  },
)

describe.each(over('grpc-web'))('over $encoding', ({ call }) => {
  const set = (userId: string, email: string, choice: object = {}) =>
    call('SetEmail', { userId, email, ...choice }, admin(home))
  test('a code for the unverified address in another spelling verifies it', async () => {
    const { userId, email } = await newHuman(home, { verification: { returnCode: {} } })
    const { verificationCode } = ok(await set(userId, email.toUpperCase(), { returnCode: {} }))
    ok(await call('VerifyEmail', { userId, verificationCode }))
    expect((await getUser(userId)).human.email).toEqual({ email, isVerified: true })
  })

  test.skipIf(!hasMailbox())(
    `an address with a Unicode domain is taken, and mailed as Punycode${mailbox}`,
    async () => {
      const email = `${unique('a')}@Bücher.example`
      const { userId } = await newHuman(home)
      ok(await set(userId, email))
      expect((await getUser(userId)).human.email).toEqual({ email })
      const { code } = await mailTo(email.replace('Bücher', 'xn--bcher-kva'))
      ok(await call('VerifyEmail', { userId, verificationCode: code }))
      expect((await getUser(userId)).human.email).toEqual({ email, isVerified: true })
    },
  )

  test.each([
    ['Unicode', '@bücher.example', '@xn--bcher-kva.example'],
    ['Punycode', '@xn--bcher-kva.example', '@bücher.example'],
  ])('searches find a domain in %s by its other spelling too', async (_, stored, other) => {
    const local = unique('s')
    const { userId } = await newHuman(home, { email: local + stored })
    const find = async (query: object) => {
      const { users } = ok(await call('SearchUsers', { queries: [query as never] }, admin(home)))
      return (users ?? []).map((user: { userId: string }) => user.userId)
    }
    const byText = (emailAddress: string, method: string) =>
      find({ emailQuery: { emailAddress, method: `TEXT_QUERY_METHOD_${method}` } })
    for (const email of [local + stored, (local + other).toUpperCase()]) {
      expect(await byText(email, 'EQUALS_IGNORE_CASE')).toEqual([userId])
      expect(await byText(email.slice(1, -1), 'CONTAINS_IGNORE_CASE')).toEqual([userId])
      expect(await find({ inUserEmailsQuery: { userEmails: [email] } })).toEqual([userId])
      expect(ok(await call('IsUserUnique', { email }, admin(home))).isUnique ?? false).toBe(false)
    }
    expect(await byText(local + stored, 'EQUALS')).toEqual([userId])
  })

  test.each(['.a@example.com', 'a.@example.com', 'a..b@example.com', 'ä@example.com', 'a@exam\u200bple.com'])(
    '%j is no addr-spec, and the field says so',
    async (email) => {
      const { userId } = await newHuman(home)
      expect(factsOf(await set(userId, email))).toMatchObject({ code: 3, fields: ['email'] })
      const human = () => ({ userName: unique('human'), profile, email: { email, isVerified: true } })
      expect(factsOf(await call('AddHumanUser', human(), admin(home))).fields).toEqual(['email.email'])
      const users = [{ human: human() }]
      expect(factsOf(await call('BulkAddUsers', { users }, admin(home))).fields).toEqual(['users[0].human.email.email'])
    },
  )
})

test.each(ways)('ZITADEL’s SetEmail over %s goes by the same rules', async (_, send) => {
  const email = uniqueEmail()
  const { userId } = await newHuman(home, { email })
  const headers = { authorization: `Bearer ${admin().token}` }
  const set = async (address: string) => {
    const bytes = toBinary(SetEmailRequestSchema, create(SetEmailRequestSchema, { userId, email: address }))
    const { error } = await send('/zitadel.user.v2.UserService/SetEmail', bytes, headers)
    const { reason, fields } = factsOf({ ok: undefined, error, http: 0, headers: {} })
    return [reason, ...fields]
  }
  expect(await set(email.toUpperCase())).toEqual(['EMAIL_NOT_CHANGED'])
  expect(await set('a..b@example.com')).toEqual(['VALIDATION_FAILED', 'email'])
  expect((await getUser(userId)).human.email).toEqual({ email, isVerified: true })
})

function mailed(email: string): string {
  const at = email.lastIndexOf('@') + 1
  return email.slice(0, at) + domainToASCII(email.slice(at))
}
