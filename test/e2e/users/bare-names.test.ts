import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import {
  CreateSessionRequestSchema,
  CreateSessionResponseSchema,
} from '@zitadel/proto/zitadel/session/v2/session_service_pb.js'
import { beforeAll, describe, expect, test } from 'vitest'
import { clientCredentials, newClient, sendForm, tokenPath } from '../../examples/oauth.ts'
import {
  admin,
  type ExampleHuman,
  newHuman,
  newMachine,
  newMember,
  newOrganization,
  ok,
  unique,
} from '../../examples/people.ts'
import { type Answer, factsOf } from '../clients/call.ts'
import { call as json, recordSecret, over } from '../clients/encodings.ts'
import { hasMailbox, mailCount, mailTo } from '../mailbox.ts'
import { ways } from '../zitadel/send.ts'

let home: string
let abroad: string
let [homeDomain, abroadDomain]: string[] = []
/** Of a user manager in a third organization. */
let manager: string
const mailbox = hasMailbox() ? '' : ' (skipped: ROSTER_E2E_MAILBOX_URL is not set)'

beforeAll(async () => {
  ;[home, abroad] = await Promise.all([newOrganization(), newOrganization()])
  manager = (await newMember(await newOrganization(), ['ORG_USER_MANAGER'])).token
  ;[homeDomain, abroadDomain] = await Promise.all([home, abroad].map(domainOf))
})

async function domainOf(organization: string): Promise<string> {
  return ok(await json('GetMyOrganization', {}, admin(organization))).organization.primaryDomain
}

const person = (organization: string, userName: string) =>
  newHuman(organization, { userName, password: unique('Password') })
const reasonOf = (answer: Answer) => factsOf(answer).reason ?? 'in'

describe.each(over('grpc'))('a bare login name over $encoding', ({ call }) => {
  const signInAs = async (loginName: string, { password }: ExampleHuman, organization?: string) =>
    reasonOf(await call('CreateSession', { loginName, password }, { organization }))

  test('stays with the user who had it first, although others are named so elsewhere', async () => {
    const name = unique('ada')
    const first = await person(home, name)
    expect(await signInAs(name, first)).toBe('in')
    ok(await call('AddMachineUser', { userName: name, name: 'Robot' }, { token: manager }))
    const second = await person(abroad, name.toUpperCase())
    expect(await signInAs(name, first)).toBe('in')
    expect(await signInAs(name, second)).toBe('CREDENTIALS_INVALID')
    expect(await signInAs(`${name}@${abroadDomain}`, second)).toBe('in')
    expect(await signInAs(`${name}@${homeDomain}`, first)).toBe('in')
    expect(await signInAs(`${name}@${homeDomain}`, second)).toBe('CREDENTIALS_INVALID')
  })

  test('is looked up in the organization that the request names', async () => {
    const name = unique('grace')
    const [first, second] = [await person(home, name), await person(abroad, name)]
    expect(await signInAs(name, second, abroad)).toBe('in')
    expect(await signInAs(name, first, abroad)).toBe('CREDENTIALS_INVALID')
    expect(await signInAs(name, first, home)).toBe('in')
    expect(await signInAs(`${name}@${abroadDomain}`, second, abroad)).toBe('in')
    expect(await signInAs(`${name}@${homeDomain}`, first, abroad)).toBe('CREDENTIALS_INVALID')
    expect(await signInAs(name, first, 'no-such-organization')).toBe('CREDENTIALS_INVALID')
  })

  test('is read without blanks at its ends and characters that cannot be seen', async () => {
    const human = await person(home, unique('annie'))
    for (const loginName of [
      `${human.userName} `,
      `\u2068${human.userName}\u2069`,
      `${human.userName}@${homeDomain}\u200b`,
    ])
      expect(await signInAs(loginName, human)).toBe('in')
  })

  test('that is given up goes to the next user who claims it', async () => {
    const name = unique('edsger')
    const [first, second] = [await person(home, name), await person(abroad, name)]
    ok(await call('UpdateUserName', { userId: first.userId, userName: unique('renamed') }, admin(home)))
    expect(await signInAs(name, second)).toBe('CREDENTIALS_INVALID')
    const third = await person(home, name)
    expect(await signInAs(name, third)).toBe('in')
    ok(await call('DeleteUser', { userId: third.userId }, admin(home)))
    expect(await signInAs(name, second)).toBe('CREDENTIALS_INVALID')
    ok(await call('UpdateUserName', { userId: second.userId, userName: unique('other') }, admin(abroad)))
    ok(await call('UpdateUserName', { userId: second.userId, userName: name }, admin(abroad)))
    expect(await signInAs(name, second)).toBe('in')
  })
})

test.skipIf(!hasMailbox())(`a forgotten password mails the user of the bare name alone${mailbox}`, async () => {
  const name = unique('barbara')
  const [first, second] = [await newHuman(home, { userName: name }), await newHuman(abroad, { userName: name })]
  ok(await json('RequestPasswordReset', { loginName: name }))
  await mailTo(first.email)
  expect(await mailCount(second.email)).toBe(0)
  ok(await json('RequestPasswordReset', { loginName: name }, { organization: abroad }))
  await mailTo(second.email)
  expect(await mailCount(first.email)).toBe(1)
})

test('the first administrator keeps `admin`, although others are named so', async () => {
  const name = 'admin'
  const squatter = await person(abroad, name)
  const { password } = squatter
  expect(reasonOf(await json('CreateSession', { loginName: name, password }))).toBe('CREDENTIALS_INVALID')
  expect(reasonOf(await json('CreateSession', { loginName: `${name}@${abroadDomain}`, password }))).toBe('in')
  ok(await json('DeleteUser', { userId: squatter.userId }, admin(abroad)))
})

test('a client id names the machine of its organization, although others are named so', async () => {
  const { userName, secret } = await newClient({ organization: abroad })
  await newMachine(home, userName)
  const form = (client_id: string) =>
    sendForm(tokenPath, { grant_type: clientCredentials, client_id, client_secret: secret })
  expect((await form(`${userName}@${abroadDomain}`)).status).toBe(200)
  expect((await form(`${userName}@${homeDomain}`)).body.error).toBe('invalid_client')
  expect((await form(userName)).body.error).toBe('invalid_client')
})

test.each(ways)('ZITADEL’s CreateSession over %s goes by the same rule', async (_, send) => {
  const name = unique('alan')
  const [first, second] = [await person(home, name), await person(abroad, name)]
  const signInAs = async ({ password }: ExampleHuman, headers: Record<string, string> = {}) => {
    const checks = { user: { search: { case: 'loginName', value: name } }, password: { password } } as const
    const bytes = toBinary(CreateSessionRequestSchema, create(CreateSessionRequestSchema, { checks }))
    const sent = await send('/zitadel.session.v2.SessionService/CreateSession', bytes, headers)
    if (sent.bytes) recordSecret(fromBinary(CreateSessionResponseSchema, sent.bytes).sessionToken)
    return sent.error === undefined
  }
  expect(await signInAs(first)).toBe(true)
  expect(await signInAs(second)).toBe(false)
  expect(await signInAs(second, { 'x-zitadel-orgid': abroad })).toBe(true)
})
