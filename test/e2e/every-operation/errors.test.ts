import { beforeAll, describe, expect, test } from 'vitest'
import { applicationErrors } from '../../examples/application-errors.ts'
import { explainErrors } from '../../examples/explain-errors.ts'
import { projectErrors, userGrantErrors } from '../../examples/grant-errors.ts'
import { idpErrors } from '../../examples/idp-errors.ts'
import { organizationErrors } from '../../examples/organization-errors.ts'
import { memberErrors } from '../../examples/member-errors.ts'
import { admin, newHuman, newMember, newOrganization, ok, signIn, unique, uniqueEmail } from '../../examples/people.ts'
import { projectGrantErrors, projectLifeErrors, userGrantLifeErrors } from '../../examples/project-errors.ts'
import { newProject } from '../../examples/projects.ts'
import {
  codeAndSessionErrors,
  creationErrors,
  credentialErrors,
  forgetNowErrors,
  profileErrors,
  setEmailErrors,
  userStateErrors,
  userStateRefusals,
} from '../../examples/user-errors.ts'
import { passwordErrors, passwordResetErrors } from '../../examples/password-errors.ts'
import { userLifeErrors, userSearchErrors } from '../../examples/user-search-errors.ts'
import { webhookErrors } from '../../examples/webhook-errors.ts'
import { buildWorld, type World } from '../../examples/world.ts'
import { isLong } from '../../support/long.ts'
import { type Answer, factsOf } from '../clients/call.ts'
import { everyEncoding } from '../clients/encodings.ts'

const errorCases = [
  profileErrors,
  creationErrors,
  setEmailErrors,
  userStateErrors,
  forgetNowErrors,
  userStateRefusals,
  codeAndSessionErrors,
  credentialErrors,
  passwordErrors,
  passwordResetErrors,
  userGrantErrors,
  explainErrors,
  organizationErrors,
  memberErrors,
  projectErrors,
  projectLifeErrors,
  projectGrantErrors,
  applicationErrors,
  userGrantLifeErrors,
  idpErrors,
  webhookErrors,
  userSearchErrors,
  userLifeErrors,
].flat()
let world: World

beforeAll(async () => {
  world = await buildWorld()
})

// A sixth wrong password would be throttled.
const takesGuesses = /^(CREDENTIALS|PASSWORD)_INVALID$/
const allOf = (reason: string) => (takesGuesses.test(reason) ? everyEncoding.toSpliced(4, 1) : everyEncoding)

/** The first case of each reason comes in every encoding, and each of the others in one of them. */
const seen = new Set<string>()
const cases = errorCases.map((entry, at) => {
  const key = `${entry.reason} ${entry.code}`
  const over = isLong || !seen.has(key) ? allOf(entry.reason) : [everyEncoding[at % everyEncoding.length]!]
  seen.add(key)
  return { ...entry, over, inWhat: over.length > 1 ? 'every encoding' : over[0].encoding }
})

describe('the same Status in JSON, gRPC, gRPC-web and Connect', () => {
  test.each(cases)('$operation: $reason, $http, when $when ($inWhat)', async (entry) => {
    const { operation, as, organization, request, code, http, reason, fields = [], metadata = {} } = entry
    const caller = as ? as(world) : admin()
    const acting = organization?.(world) ?? (as ? undefined : world.home)
    const body = request(world)
    const statuses = []
    for (const { call, encoding } of entry.over) {
      const answer = await call(operation, body, { token: caller?.token, organization: acting })
      expect(factsOf(answer)).toMatchObject({ code, reason, metadata, fields })
      if (encoding === 'json') expect(answer.http).toBe(http)
      expect(answer.headers['x-request-id']).toMatch(/\S/)
      expect('www-authenticate' in answer.headers).toBe(code === 16)
      statuses.push(answer.error!)
    }
    expect(statuses[0]!.message).not.toBe('')
    expect(statuses[0]!.details[0]).toMatchObject({
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      domain: 'roster',
    })
    for (const other of statuses) expect(other).toEqual(statuses[0])
  })

  test('AddUserGrant: USER_GRANT_EXISTS, 409, when the same is given again', async () => {
    const request = { userId: world.human.userId, projectId: await newProject(world.home) }
    ok(await everyEncoding[0].call('AddUserGrant', request, admin(world.home)))
    await expectSame(({ call }) => call('AddUserGrant', request, admin(world.home)), 'USER_GRANT_EXISTS', 409)
  })

  test('SetEmail: EMAIL_CHANGES_THROTTLED, 429, when an eleventh own change would mail a code, with Retry-After', async () => {
    const { userId, token } = await newMember(world.home, [])
    const change = ({ call }: (typeof everyEncoding)[number]) =>
      call('SetEmail', { userId, email: uniqueEmail() }, { token })
    for (let n = 0; n < 10; n++) ok(await change(everyEncoding[n % 4]!))
    await expectThrottled(change, 'EMAIL_CHANGES_THROTTLED', 3600)
  })

  test('ResendEmailCode: CODE_THROTTLED, 429, within a minute after the last one, with Retry-After', async () => {
    const { userId } = await newHuman(world.home, { verification: { returnCode: {} } })
    ok(await everyEncoding[0].call('ResendEmailCode', { userId }, admin()))
    await expectThrottled(({ call }) => call('ResendEmailCode', { userId }, admin()), 'CODE_THROTTLED', 60)
  })

  test('CreateSession: SIGN_IN_THROTTLED, 429, after five wrong passwords, with Retry-After', async () => {
    const human = await newHuman(await newOrganization(), { password: unique('Password') })
    const attempt = ({ call }: (typeof everyEncoding)[number]) =>
      call('CreateSession', { loginName: human.userName, password: 'wrong-password' })
    for (let n = 0; n < 5; n++) expect(factsOf(await attempt(everyEncoding[n % 4]!)).reason).toBe('CREDENTIALS_INVALID')
    await expectThrottled(attempt, 'SIGN_IN_THROTTLED', 300)
    await expect(signIn(human), 'even with the right password').rejects.toThrow('SIGN_IN_THROTTLED')
  })

  test('AddOTPEmail: FACTOR_EXISTS, 409, when the user has this factor', async () => {
    const { userId } = await newHuman(world.home)
    ok(await everyEncoding[0].call('AddOTPEmail', { userId }, admin()))
    await expectSame(({ call }) => call('AddOTPEmail', { userId }, admin()), 'FACTOR_EXISTS', 409)
  })

  test('SetSession: FACTOR_NOT_AVAILABLE, 400, when a code is sent before the password', async () => {
    const { userId } = await newHuman(world.home)
    const begun = ok(await everyEncoding[0].call('CreateSession', { userId }, admin()))
    const request = { sessionId: begun.sessionId, sessionToken: begun.sessionToken, otpEmailCode: 'ZZZZZZ' }
    await expectSame(({ call }) => call('SetSession', request, admin()), 'FACTOR_NOT_AVAILABLE', 400)
  })

  test('SetSession: CODE_INVALID, 400, for a wrong code, and FACTOR_THROTTLED, 429, after five, with Retry-After', async () => {
    const human = await newHuman(world.home, { password: unique('Password') })
    const credentials = { loginName: human.userName, password: human.password }
    const { sessionId, sessionToken } = ok(await everyEncoding[0].call('CreateSession', credentials))
    const request = { sessionId, sessionToken, otpEmailCode: 'ZZZZZZ' }
    const statuses: Answer['error'][] = []
    for (const { encoding, call } of everyEncoding.slice(0, 5)) {
      const answer = await call('SetSession', request, admin())
      expect(factsOf(answer)).toMatchObject({ code: 3, reason: 'CODE_INVALID', fields: ['otpEmailCode'] })
      if (encoding === 'json') expect(answer.http).toBe(400)
      statuses.push(answer.error)
    }
    for (const status of statuses) expect(status).toEqual(statuses[0])
    await expectThrottled(({ call }) => call('SetSession', request, admin()), 'FACTOR_THROTTLED', 600)
  })

  test('REQUEST_TOO_LARGE: 413, and 8 in every encoding, for more than 1 MiB', async () => {
    const request = { userName: unique('machine'), name: 'M', description: 'x'.repeat(1024 * 1024) }
    await expectSame(({ call }) => call('AddMachineUser', request, admin(world.home)), 'REQUEST_TOO_LARGE', 413)
  })
})

type Encoding = (typeof everyEncoding)[number]

async function expectSame(call: (encoding: Encoding) => Promise<Answer>, reason: string, http: number) {
  const answers: Answer[] = []
  for (const encoding of everyEncoding) answers.push(await call(encoding))
  expect(factsOf(answers[0]!).reason).toBe(reason)
  expect(answers[0]!.http).toBe(http)
  for (const answer of answers) expect(answer.error).toEqual(answers[0]!.error)
}

async function expectThrottled(call: (encoding: Encoding) => Promise<Answer>, reason: string, longest: number) {
  for (const encoding of everyEncoding) {
    const answer = await call(encoding)
    const { code, retryDelay, ...facts } = factsOf(answer)
    expect({ code, reason: facts.reason }).toEqual({ code: 8, reason })
    if (encoding.encoding === 'json') expect(answer.http).toBe(429)
    const seconds = Number(answer.headers['retry-after'])
    expect(seconds).toBeGreaterThanOrEqual(1)
    expect(seconds).toBeLessThanOrEqual(longest)
    expect(retryDelay).toBe(`${seconds}s`)
  }
}
