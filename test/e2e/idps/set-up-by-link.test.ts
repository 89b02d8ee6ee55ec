import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { Authenticator } from '../../../services/users/sessions/factors/passkey/testing/authenticator.ts'
import type { ExampleApplication } from '../../examples/applications.ts'
import { newLoginClient } from '../../examples/login-applications.ts'
import { enterByPasskey, registerPasskey } from '../../examples/passkey-sessions.ts'
import { admin, type ExampleHuman, newHuman, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { newWebApplication, openBrowser } from '../../examples/sign-in.ts'
import { type PeopleUpstream, startPeopleUpstream } from '../../support/upstreams/people-upstream.ts'
import { factsOf } from '../clients/call.ts'
import { call, recordSecret } from '../clients/encodings.ts'
import { proveAt } from './at-provider.ts'
import { claimsOf, comeByProvider, listProviders } from './provider-stage.ts'

// What somebody sets up in a session that a link opened which somebody else had named.

const { house } = inject('roster')
const why = house ? '' : ' (skipped: it takes a Roster that reaches this machine)'

const secret = unique('idp-secret')
let home: string
let owner: { token: string }
let application: ExampleApplication
let client: { token: string }
let upstream: PeopleUpstream
let idpId: string

beforeAll(async () => {
  if (!house) return
  ;[home, upstream] = await Promise.all([newOrganization(), startPeopleUpstream(secret)])
  application = await newWebApplication(home, await newProject(home))
  ;[owner, client] = await Promise.all([newMember(home, ['ORG_OWNER']), newLoginClient(await newOrganization())])
  const settings = { name: unique('Acme'), clientId: 'roster', clientSecret: secret, issuer: upstream.url }
  idpId = ok(await call('AddOrganizationOIDCIDP', settings, admin(home))).idpId as string
  await listProviders(home, [idpId], { allowPasskeys: true })
})
afterAll(() => upstream?.stop())

interface Token {
  token: string
}

const reasonOf = (answer: Awaited<ReturnType<typeof call>>) => (answer.error ? factsOf(answer).reason! : 'in')

/** Somebody whose link this caller names, and who is at the provider now. */
async function newNamed(namer: Token) {
  const human = await newHuman(home)
  const sub = unique('sub')
  ok(await call('AddIDPLink', { userId: human.userId, idpLink: { idpId, userId: sub } }, namer))
  upstream.person = { sub, claims: claimsOf('Ada') }
  return human
}

/** A session at the login application by the provider. */
async function enterByLink() {
  const idpIntent = await proveAt(upstream, idpId, client)
  const opened = ok(await call('CreateSession', { idpIntent }, client))
  recordSecret(opened.sessionToken)
  return { token: opened.sessionToken as string }
}

const ways: [string, (userId: string) => Promise<Authenticator>][] = [
  ['by the session’s own token', async (userId) => registerPasskey(userId, await enterByLink())],
  [
    'by the login application',
    async (userId) => {
      await enterByLink()
      const { code } = ok(await call('CreatePasskeyRegistrationLink', { userId, returnCode: {} }, client))
      recordSecret(code.code)
      return registerPasskey(userId, client, code)
    },
  ],
]

const give = (userId: string) => call('AddOrganizationMember', { userId, roles: ['ORG_OWNER'] }, admin(home))
const take = (userId: string) => call('RemoveOrganizationMember', { userId }, admin(home))

/** Chooses a password on the page of the account, in a browser that came by the provider. */
async function choosePassword(human: ExampleHuman) {
  const { browser } = await comeByProvider({ application, upstream }, idpId, openBrowser(), { prompt: 'login' })
  const password = unique('Password')
  recordSecret(password)
  const page = await browser.visit('/ui/account/password')
  await browser.submit(page, { password }, '/ui/account/password')
  return { loginName: human.userName, password }
}

async function enterByPassword(by: { loginName: string; password: string }) {
  const answer = await call('CreateSession', by)
  if (answer.ok) recordSecret(answer.ok.sessionToken)
  return answer
}

describe.skipIf(!house)(`in a session by a link that somebody else named${why},`, () => {
  test.each(ways)('a passkey that is made %s counts as long as the person has no role', async (_, make) => {
    const { userId } = await newNamed(owner)
    const device = await make(userId)
    const { sessionToken: token } = ok(await enterByPasskey(client, userId, device))
    expect(reasonOf(await call('GetMyUser', {}, { token }))).toBe('in')
    // What it makes in turn is no better.
    const second = await registerPasskey(userId, { token })
    ok(await give(userId))
    await expect.poll(async () => reasonOf(await call('GetMyUser', {}, { token })), { timeout: 1000 }).not.toBe('in')
    expect(reasonOf(await enterByPasskey(client, userId, device))).toBe('PASSKEY_INVALID')
    expect(reasonOf(await enterByPasskey(client, userId, second))).toBe('PASSKEY_INVALID')
    ok(await take(userId))
    await expect.poll(async () => reasonOf(await enterByPasskey(client, userId, device))).toBe('in')
  })

  test('a first password counts as long as the person has no role, and one that the person proves otherwise for good', async () => {
    const human = await newNamed(owner)
    const by = await choosePassword(human)
    const { sessionToken: token } = ok(await enterByPassword(by))
    expect(reasonOf(await call('GetMyUser', {}, { token }))).toBe('in')
    ok(await give(human.userId))
    await expect.poll(async () => reasonOf(await call('GetMyUser', {}, { token })), { timeout: 1000 }).not.toBe('in')
    expect(reasonOf(await enterByPassword(by))).toBe('CREDENTIALS_INVALID')
    const { verificationCode } = ok(await call('PasswordReset', { userId: human.userId, returnCode: {} }, admin(home)))
    const anew = { loginName: human.userName, password: unique('Password') }
    recordSecret(verificationCode)
    recordSecret(anew.password)
    const reset = { userId: human.userId, verificationCode, newPassword: anew.password }
    ok(await call('ResetPassword', reset))
    expect(reasonOf(await enterByPassword(anew))).toBe('in')
  })

  test('a session by such a passkey opens nothing under a role, also once passkey, link and providers are gone', async () => {
    const { userId } = await newNamed(owner)
    ok(await call('SetPassword', { userId, newPassword: { password: unique('Password') } }, admin(home)))
    const device = await registerPasskey(userId, await enterByLink())
    const { sessionToken: token } = ok(await enterByPasskey(client, userId, device))
    const [{ id: passkeyId }] = ok(await call('ListPasskeys', { userId }, admin(home))).passkeys
    ok(await call('RemovePasskey', { userId, passkeyId }, admin(home)))
    const [link] = ok(await call('ListIDPLinks', { userId }, admin(home))).links
    ok(await call('RemoveIDPLink', { userId, idpId, linkedUserId: link.userId }, admin(home)))
    await listProviders(home, [], { allowPasskeys: true })
    try {
      expect(reasonOf(await call('GetMyUser', {}, { token }))).toBe('in')
      ok(await give(userId))
      await expect.poll(async () => reasonOf(await call('GetMyUser', {}, { token })), { timeout: 1000 }).not.toBe('in')
    } finally {
      await listProviders(home, [idpId], { allowPasskeys: true })
    }
  })

  test('both count on where an administrator of the instance named it', async () => {
    const human = await newNamed(admin(home))
    const device = await registerPasskey(human.userId, await enterByLink())
    const by = await choosePassword(human)
    ok(await give(human.userId))
    const { sessionToken: token } = ok(await enterByPasskey(client, human.userId, device))
    expect(reasonOf(await call('GetMyUser', {}, { token }))).toBe('in')
    expect(reasonOf(await enterByPassword(by))).toBe('in')
  })
})
