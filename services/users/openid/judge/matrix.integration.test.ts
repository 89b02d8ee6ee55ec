import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OIDCAuthMethodType } from '#gen/roster/grants/v1/application_service'
import { CreateCallbackRequest as callbackCodec } from '#gen/roster/users/v1/auth_request_service'
import { IssueTokenRequest as codec } from '#gen/roster/users/v1/oauth_service'
import {
  SetSessionRequest as setCodec,
  UserVerificationRequirement as Verification,
} from '#gen/roster/users/v1/session_service'
import type { LoginPolicySettings } from '#gen/roster/users/v1/login_policy_service'
import { SecondFactorType } from '#gen/roster/users/v1/settings_service'
import { FactorWay, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { shiftClock } from '#test/support/shift-clock'
import { deriveCode } from '../../directory/email/code.ts'
import { findCode } from '../../directory/secrets/one-time-codes.ts'
import { hashToken } from '../../directory/tokens/token.ts'
import { authenticate } from '../../internal/authenticate.ts'
import { checkCode } from '../../pages/operations/check-code.ts'
import { createCallback } from '../../pages/own-pages/create-callback.ts'
import { Authenticator, type RequestOptions } from '../../sessions/factors/passkey/testing/authenticator.ts'
import {
  allow,
  asked as passkeyAsked,
  by,
  call,
  closeWorld,
  openWorld,
  optionsOf,
  origin,
  reasonOf,
  register,
  users,
  Visitor as Holder,
} from '../../sessions/factors/passkey/testing/world.ts'
import {
  addApp,
  type App,
  newPerson,
  type Person,
  type Session,
  signIn,
} from '../../sessions/factors/testing/second-factors.ts'
import { createSession } from '../../sessions/operations/create-session.ts'
import { deleteSession } from '../../sessions/operations/delete-session.ts'
import { generateRecoveryCodes } from '../../sessions/operations/generate-recovery-codes.ts'
import { addOTPEmail, removeOTPEmail } from '../../sessions/operations/otp-email.ts'
import { registerU2F } from '../../sessions/operations/passkeys/register-u2f.ts'
import { removePasskey, removeU2F } from '../../sessions/operations/passkeys/remove.ts'
import { verifyU2FRegistration } from '../../sessions/operations/passkeys/verify-u2f-registration.ts'
import { removeRecoveryCodes } from '../../sessions/operations/remove-recovery-codes.ts'
import { removeTOTP } from '../../sessions/operations/remove-totp.ts'
import { setSession } from '../../sessions/operations/set-session.ts'
import { noteApplication, redirectUri, told } from '../authorization/testing/visitors.ts'
import { findActive } from '../authorization/active-token.ts'
import { issueToken } from '../operations/issue-token.ts'

// Everything is compared with the tables that a person reads.
const document = readFileSync(new URL('../../../../docs/sign-in/factors.md', import.meta.url), 'utf8')
const tables = [...document.matchAll(/(?:^\|.*\n)+/gm)].map(([table]) =>
  table
    .trim()
    .split('\n')
    .filter((_, line) => line !== 1)
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    ),
)
const [[, ...policyNames], ...ofPeople] = tables[0]! as [string[], ...string[][]]
const [, ...ofDoors] = tables[1]!
const doors = new Map(ofDoors.map(([door, open, shut]) => [door!, { open: open!, shut: shut! }]))

const listed = (cell: string) => (cell === '–' ? [] : cell.split(', '))

const apps = { types: [SecondFactorType.SECOND_FACTOR_TYPE_OTP] }
const byMail = { allowMailedCodes: true, allowUsernamePassword: false, allowPasskeys: true }
const policies: Record<string, LoginPolicySettings> = {
  'nothing demanded': {},
  'passkeys allowed': { allowPasskeys: true },
  'second factor demanded': { forceMfa: true },
  'demanded, passkeys allowed': { forceMfa: true, allowPasskeys: true },
  'demanded, only apps serve': { forceMfa: true, secondFactors: apps },
  'mailed codes, passkeys allowed': byMail,
  'mailed codes, demanded': { ...byMail, forceMfa: true },
}

/** What a session has checked, in the words of the table; `code` is a mailed one. A key has no person verified, unlike a passkey. */
const checked = [
  'code',
  'code, app',
  'password',
  'password, mail',
  'password, app',
  'password, codes',
  'password, key',
  'passkey',
]

const clientOf = (row: string) => row.replaceAll(', ', '-')

/** What is missing by the table of people. */
function expected(policy: string, cell: string, done: string): string[] {
  const [first, second] = done.split(', ')
  const { allowPasskeys = false, allowMailedCodes = false } = policies[policy]!
  const wanted = allowMailedCodes ? 'code' : 'password'
  if (first === 'passkey' ? !allowPasskeys : first !== wanted) return [wanted]
  if (first === 'passkey') return []
  const asked = listed(cell)
  return asked.includes(second === 'key' ? 'passkey' : second!) ? [] : asked
}

beforeAll(async () => {
  await openWorld()
  const authMethodType = OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE
  const note = (name: string, more = {}) =>
    noteApplication(users, name, { firstParty: true, authMethodType, ...more }, { organizationId: 'acme' })
  await note('own', { loginBaseUri: 'https://login.example.com' })
  for (const [row] of ofPeople) await note(clientOf(row!))
}, 60_000)
afterAll(closeWorld)

class Visitor extends Holder {
  async byCode(page: PageAnswer, person: Person): Promise<PageAnswer> {
    const asked = await this.follow(await this.post(page, { loginName: person.userName, action: 'mail-code' }))
    await users.afterResponse.stop()
    return this.follow(await this.post(asked, { code: await mailed(person, 'sign-in-code'), action: 'check-code' }))
  }

  async send({ requestId, formToken }: PageAnswer, given: { action?: string; code?: string; factor?: string }) {
    const request = {
      browser: this.cookie,
      requestId,
      formToken,
      code: '',
      action: 'check',
      factor: '',
      trust: '',
      trusts: '',
      ...given,
    }
    return this.follow(this.keep(await checkCode(this.users, request, this.call())))
  }
}

/** A policy by which a session may begin so. */
const baseOf = (done: string) => (done.startsWith('code') ? byMail : { allowPasskeys: true })

/** Somebody who is signed in by a browser and by the API, with what an application got of them. */
interface SignedIn {
  person: Person
  browser: Visitor
  session: Session
  /** Each row has an application of its own: of one, sixty answers in a minute are given without a page. */
  clientId: string
  codes: string[]
  tokens: { accessToken: string; refreshToken: string }
}

// A code of an app counts once.
let passed = 0
const later = () => shiftClock(users.sql, `${(passed += 60)} seconds`)

/** A person's devices and printed codes. */
interface Things {
  mail?: true | undefined
  app?: App | undefined
  codes?: string[] | undefined
  passkey?: undefined | { device: Authenticator; id: string }
  key?: undefined | { device: Authenticator; id: string }
}

async function signedIn(done: string): Promise<{ state: SignedIn; things: Things }> {
  await allow({ allowPasskeys: true })
  const person = await newPerson(users)
  const things: Things = {}
  const [first, second] = done.split(', ')
  for (const one of second === 'codes' ? ['app', 'codes'] : [second ?? '', first === 'passkey' ? first : ''])
    await add[one]?.(person, things)
  await later()
  await allow(baseOf(done))
  const browser = new Visitor(users)
  const page = await browser.begin({ scope })
  let after: PageAnswer
  let session: Session
  if (first === 'passkey') {
    after = await browser.pass(page, things.passkey!.device.get(passkeyAsked(page)))
    session = await byApi(await half(person), things.passkey!.device, false)
  } else {
    after = await (first === 'code' ? browser.byCode(page, person) : browser.signIn(page, person.userName))
    session = await (first === 'code' ? sessionByCode(person) : signIn(users, person))
    if (second) {
      after = await atPage(second, browser, after, { person, things })
      session = await inSession(second, session, { person, things })
    }
  }
  const tokens = await redeem(told(after)['code']!)
  return { state: { person, browser, session, clientId: 'client', codes: [], tokens }, things }
}
const scope = 'openid offline_access'

const add: Record<string, (person: Person, things: Things) => Promise<unknown>> = {
  mail: (person, things) => ((things.mail = true), addOTPEmail.handle(users, person, call())),
  app: async (person, things) => (things.app = await addApp(users, person, call())),
  codes: async ({ userId }, things) =>
    (things.codes = (await generateRecoveryCodes.handle(users, { userId }, call())).recoveryCodes),
  passkey: (person, things) =>
    justSignedIn(person, async (caller) => {
      const device = new Authenticator(origin)
      const { passkeyId: id } = await register(person, device, {}, caller)
      things.passkey = { device, id }
    }),
  key: (person, things) =>
    justSignedIn(person, async (caller) => {
      const [device, { userId }] = [new Authenticator(origin), person]
      const begun = await registerU2F.handle(users, { userId, domain: '' }, caller)
      const publicKeyCredential = device.create(optionsOf(begun), { uv: false })
      await verifyU2FRegistration.handle(
        users,
        { userId, u2fId: begun.u2fId, publicKeyCredential, tokenName: '' },
        caller,
      )
      things.key = { device, id: begun.u2fId }
    }),
}

// Of ten sessions, one more would end the oldest.
async function justSignedIn(person: Person, work: (caller: ReturnType<typeof by>) => Promise<void>): Promise<void> {
  const { sessionId } = await signIn(users, person)
  await work(by(person, sessionId))
  await deleteSession.handle(users, { sessionId, sessionToken: '' }, call())
}

const remove: Record<string, (person: Person, things: Things) => Promise<unknown>> = {
  mail: (person) => removeOTPEmail.handle(users, person, call()),
  app: (person) => removeTOTP.handle(users, person, call()),
  codes: (person) => removeRecoveryCodes.handle(users, person, call()),
  passkey: ({ userId }, { passkey }) => removePasskey.handle(users, { userId, passkeyId: passkey!.id }, call()),
  key: ({ userId }, { key }) => removeU2F.handle(users, { userId, u2fId: key!.id }, call()),
}

/** Gives the person what a row of the table says, and takes the rest. */
async function give(row: string, { person }: SignedIn, things: Things): Promise<void> {
  const wanted = row === 'nothing' ? [] : listed(row)
  // Recovery codes come after another factor, and go before it. Whoever adds a device needs what is there, so it comes first.
  const kinds = ['passkey', 'key', 'mail', 'app', 'codes'] as const
  const addsDevice = (['passkey', 'key'] as const).some((kind) => wanted.includes(kind) && !things[kind])
  for (const kind of kinds.toReversed())
    if (things[kind] && (addsDevice || !wanted.includes(kind))) {
      await remove[kind]!(person, things)
      things[kind] = undefined
    }
  for (const kind of kinds) if (wanted.includes(kind) && !things[kind]) await add[kind]!(person, things)
}

async function half({ userId }: Person): Promise<Session> {
  return createSession.handle(users, { userId, loginName: '', password: '', lifetime: undefined }, call())
}

async function set({ sessionId, sessionToken }: Session, given: object) {
  const request = { ...setCodec.decode(new Uint8Array()), sessionId, sessionToken, ...given }
  return { ...(await setSession.handle(users, request, call())), sessionId }
}

const { USER_VERIFICATION_REQUIREMENT_REQUIRED: required, USER_VERIFICATION_REQUIREMENT_DISCOURAGED: discouraged } =
  Verification

/** Uses a device in a session of the API. */
async function byApi(session: Session, device: Authenticator, isSecond: boolean): Promise<Session> {
  const userVerificationRequirement = isSecond ? discouraged : required
  const { challenges } = await set(session, { webAuthN: { domain: 'localhost', userVerificationRequirement } })
  const { publicKey } = challenges!.webAuthN!.publicKeyCredentialRequestOptions as { publicKey: RequestOptions }
  return set(session, { credentialAssertionData: device.get(publicKey, { uv: !isSecond }) })
}

interface At {
  person: Person
  things: Things
}

/** Proves a second factor on the page that asks for it. */
async function atPage(second: string, browser: Visitor, page: PageAnswer, { person, things }: At): Promise<PageAnswer> {
  if (second === 'key') return browser.pass(page, things.key!.device.get(passkeyAsked(page), { uv: false }))
  if (second === 'app') return browser.send(page, { factor: 'totp', code: await things.app!.code() })
  if (second === 'mail') return browser.send(page, { code: await mailed(person) })
  const codes = await browser.send(page, { action: 'by-recovery-code' })
  return browser.send(codes, { factor: 'recovery-code', code: things.codes!.shift()! })
}

/** Likewise, in a session of the API. */
async function inSession(second: string, session: Session, { things }: At): Promise<Session> {
  if (second === 'key') return byApi(session, things.key!.device, true)
  if (second === 'app') return set(session, { totpCode: await things.app!.code(1) })
  if (second === 'codes') return set(session, { recoveryCode: things.codes!.shift()! })
  const { challenges } = await set(session, { otpEmail: { delivery: { $case: 'returnCode', value: {} } } })
  return set(session, { otpEmailCode: challenges!.otpEmail! })
}

async function sessionByCode(person: Person): Promise<Session> {
  const session = await half(person)
  const administrator = { ...call(), caller: { ...call().caller, instanceRoles: ['IAM_OWNER'] } }
  const delivery = { $case: 'returnCode', value: {} } as const
  const request = { ...setCodec.decode(new Uint8Array()), ...session, otpEmail: { delivery } }
  const { challenges } = await setSession.handle(users, request, administrator)
  return set(session, { otpEmailCode: challenges!.otpEmail! })
}

async function mailed({ userId, email }: Person, kind: 'otp-email' | 'sign-in-code' = 'otp-email'): Promise<string> {
  const [row] = await users.sql<{ id: string }[]>`
    select mail_id as id from unsent_mails where user_id = ${userId} and kind = ${kind} order by requested_at desc
  `
  const found = (await findCode(users, kind, { codeId: row!.id }))!
  return deriveCode(users.keys, found.code, userId, email, kind)
}

const issue = (given: object) =>
  issueToken.handle(users, { ...codec.decode(new Uint8Array()), clientId: 'client', ...given }, call())

async function redeem(code: string, clientId = 'client') {
  const answer = await issue({ clientId, grantType: 'authorization_code', code, codeVerifier: 'verifier', redirectUri })
  return { accessToken: answer.accessToken, refreshToken: answer.refreshToken! }
}

/** What a page asks for: the words of the table, or nothing. */
function askedAt({ answer }: PageAnswer): string {
  switch (answer?.$case) {
    case 'signIn':
      return answer.value.mailsCode ? 'code' : 'password'
    case 'passkey':
      return 'passkey'
    case 'code':
      return 'mail'
    case 'totpSetUp':
      return 'app'
    case 'factorCode':
      return answer.value.way === FactorWay.FACTOR_WAY_TOTP ? 'app' : 'codes'
    default:
      return answer?.$case ?? ''
  }
}

const silently = ({ browser, clientId }: SignedIn) => browser.authorize({ clientId, scope, prompt: 'none' })

/** What each door answers: `open` or `shut` in its words, and for a page what it asks for. */
const tries: Record<string, (state: SignedIn) => Promise<string | { asks: string }>> = {
  'the page of an authorization request': async ({ browser, clientId }) => {
    const answer = await browser.authorize({ clientId, scope })
    const location = answer.answer?.$case === 'redirect' ? answer.answer.value.location : ''
    return location.startsWith(redirectUri) ? 'code' : { asks: askedAt(await browser.follow(answer)) }
  },
  'with `prompt=none`': async (state) => {
    const { code, error } = told(await silently(state))
    return code === undefined ? error! : 'code'
  },
  'a login application of your own (CreateCallback)': async ({ browser, session }) => {
    const { answer } = await browser.authorize({ clientId: 'own', scope })
    const location = answer?.$case === 'redirect' ? answer.value.location : ''
    const request = {
      ...callbackCodec.decode(new Uint8Array()),
      authRequestId: new URL(location).searchParams.get('authRequest')!,
    }
    const callbackKind = { $case: 'session' as const, value: { ...session, consentGiven: false } }
    const outcome = await reasonOf(createCallback.handle(users, { ...request, callbackKind }, call()))
    return outcome === 'in' ? 'code' : outcome
  },
  'the account, `/ui/account`': async ({ browser }) => {
    const page = await browser.account()
    return page.answer?.$case === 'account' ? 'account' : { asks: askedAt(page) }
  },
  'a call with a session token': ({ session }) => calledWith(session.sessionToken),
  'a code at the token endpoint': async ({ clientId, codes }) => {
    const outcome = await reasonOf(redeem(codes.shift()!, clientId))
    return outcome === 'in' ? 'tokens' : outcome.toLowerCase()
  },
  'a refresh token': async ({ tokens }) => {
    try {
      const { refreshToken } = await issue({ grantType: 'refresh_token', refreshToken: tokens.refreshToken })
      tokens.refreshToken = refreshToken!
      return 'tokens'
    } catch (error) {
      return (error as { reason: string }).reason.toLowerCase()
    }
  },
  'userinfo, with an access token': async ({ tokens }) => calledWith(tokens.accessToken),
  'introspection of an access token': async ({ tokens }) =>
    (await findActive(users, tokens.accessToken, call())) ? 'active' : 'inactive',
}

const calledWith = (token: string) => reasonOf(authenticate(users, { tokenHash: hashToken(token) }, call()))

test('the table of doors names each that is tried, the table of people each policy', () => {
  expect([...doors.keys()]).toEqual(Object.keys(tries))
  expect(policyNames).toEqual(Object.keys(policies))
})

test.each(checked)(
  'a session with %s opens each door as the tables say, whatever the person has and the policy wants',
  async (done) => {
    const { state, things } = await signedIn(done)
    const [, second = 'nothing'] = done.split(', ')
    for (const [row, ...cells] of ofPeople) {
      // Few requests of a browser wait at a time. A code is given while nothing is missing, one for each policy.
      await later()
      state.clientId = clientOf(row!)
      await allow({ allowPasskeys: true })
      await give(second === 'codes' ? 'app, codes' : second, state, things)
      await allow(baseOf(done))
      for (const _ of policyNames) {
        const answer = told(await silently(state))
        expect(answer).toHaveProperty('code')
        state.codes.push(answer['code']!)
      }
      await allow({ allowPasskeys: true })
      await give(row!, state, things)
      for (const [at, policy] of policyNames.entries()) {
        await allow(policies[policy]!)
        const missing = expected(policy, cells[at]!, done)
        for (const [door, tried] of Object.entries(tries)) {
          const { open, shut } = doors.get(door)!
          const outcome = await tried(state)
          const wanted = missing.length === 0 ? open : shut === 'asks' ? { asks: missing[0] } : shut
          expect({ row, policy, door, outcome }).toEqual({ row, policy, door, outcome: wanted })
        }
      }
    }
  },
)
