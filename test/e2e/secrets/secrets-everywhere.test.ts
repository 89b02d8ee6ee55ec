import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { admin, newHuman, newOrganization, ok, signIn, unique } from '../../examples/people.ts'
import { newSignedInMachine } from '../../examples/machines.ts'
import { newClient, obtainToken, tokenPath } from '../../examples/oauth.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newCode, newWebApplication, openBrowser, redeem } from '../../examples/sign-in.ts'
import { call } from '../clients/encodings.ts'
import { type Door, newProofKey, openDoors } from './secret-doors.ts'

// One living secret of each kind is shown at every door. It opens its own, and all others refuse it as they refuse a text
// that nobody made: it is not used up by them, and ends nothing.

/** Where each opens something. One for a project is told so by the API: whoever has it knows that. */
const own: Record<string, Partial<Record<Door, string>>> = {
  cookie: { cookie: 'code' },
  'form token': { form: '200 You did not sign in' },
  'posted request': { 'posted request': '200 Sign in' },
  code: { code: '200' },
  'code for a key': { code: '200' },
  'refresh token': { refresh: '200', introspection: '200 active', revocation: '200' },
  'refresh token for a key': { refresh: '200' },
  'access token': { userinfo: '200', introspection: '200 active', API: 'TOKEN_FOR_PROJECT', revocation: '200' },
  'access token, JWT': { userinfo: '200', introspection: '200 active', API: 'TOKEN_FOR_PROJECT' },
  'access token for a key': { 'userinfo by its key': '200', introspection: '200 active' },
  'ID token': { hint: 'code' },
  'personal access token': { API: 'ok', userinfo: '200' },
  'secret of a machine': { 'client secret': '200' },
  'access token of a machine': { API: 'ok', userinfo: '200' },
  'session token': { API: 'ok', userinfo: '200' },
  'email code': { 'email code': 'ok' },
  'reset code': { 'reset code': 'ok' },
  'code of a second factor': { 'second factor': 'ok' },
}

/** Makes a secret of a kind. */
let makers: Record<string, () => Promise<string> | string>
let doors: Awaited<ReturnType<typeof openDoors>>
/** What each door says to noise of a length. Some texts are longer than a door reads. */
let refused: Record<number, Record<string, string>>
const lengths = [6, 60, 600]
/** All that were made. */
const made = new Map<string, string>()

beforeAll(async () => {
  const home = await newOrganization()
  const projectId = await newProject(home)
  const [person, addressed, forgetful] = await Promise.all([
    newHuman(home, { password: unique('Password') }),
    newHuman(home, { verification: { returnCode: {} } }),
    newHuman(home),
  ])
  const grantTypes = ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN']
  const inBrowser = { appType: 'OIDC_APP_TYPE_USER_AGENT', authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE' }
  const [web, signing, bound] = (await Promise.all(
    [{}, { accessTokenType: 'OIDC_TOKEN_TYPE_JWT' }, inBrowser].map((more) =>
      newWebApplication(home, projectId, { grantTypes, ...more }),
    ),
  )) as [ExampleApplication, ExampleApplication, ExampleApplication]
  const [browser, key, machine] = [openBrowser(), await newProofKey(), await newClient({ organization: home })]
  const { userName: loginName, password } = await newHuman(home, { password: unique('Password') })
  const { sessionId, sessionToken } = ok(await call('CreateSession', { loginName, password }))
  const careful = { sessionId, sessionToken }
  doors = await openDoors({ home, person, addressed, forgetful, careful, web, signing, bound, key, machine })
  const answersTo = async (noise: string, turn: number) =>
    Object.fromEntries(
      await Promise.all(doors.all.map(async (door) => [door, (await doors.show(door, noise, turn)).said])),
    )
  const kinds = Object.keys(own).length
  refused = {}
  for (const [index, length] of lengths.entries()) refused[length] = await answersTo('x'.repeat(length), kinds + index)

  const offline = { scope: 'openid profile offline_access' }
  const tokensOf = async (application: ExampleApplication, more = {}) => {
    const code = await newCode(person, application, more, browser)
    const headers = application === bound ? await key.proof(tokenPath) : {}
    return (await redeem(application, code, {}, undefined, headers)).body
  }
  makers = {
    cookie: async () => {
      await newCode(person, web, {}, browser)
      return browser.cookie().split('=')[1]!
    },
    'form token': () => doors.formToken,
    'posted request': () => doors.post(authorizePath(web)),
    code: () => newCode(person, web, {}, browser),
    'code for a key': () => newCode(person, bound, { dpop_jkt: key.thumbprint }, browser),
    'refresh token': async () => (await tokensOf(web, offline)).refresh_token,
    'refresh token for a key': async () => (await tokensOf(bound, offline)).refresh_token,
    'access token': async () => (await tokensOf(web)).access_token,
    'access token, JWT': async () => (await tokensOf(signing)).access_token,
    'access token for a key': async () => (await tokensOf(bound)).access_token,
    'ID token': async () => (await tokensOf(web)).id_token,
    'personal access token': async () => (await newSignedInMachine(home)).token,
    'secret of a machine': () => machine.secret,
    'access token of a machine': () => obtainToken(machine, 'openid'),
    'session token': () => signIn(person),
    'email code': () => addressed.emailCode!,
    'reset code': async () =>
      ok(await call('PasswordReset', { userId: forgetful.userId, returnCode: {} }, admin(home))).verificationCode,
    'code of a second factor': async () =>
      ok(await call('SetSession', { ...careful, otpEmail: { returnCode: {} } }, admin(home))).challenges.otpEmail,
  }
}, 120_000)

describe('at all other doors a secret is refused as noise is, and then opens its own:', () => {
  test.each(Object.keys(own).map((kind, turn) => ({ kind, turn })))('$kind', async ({ kind, turn }) => {
    const secret = await makers[kind]!()
    made.set(kind, secret)
    const others = doors.all.filter((door) => own[kind]![door] === undefined)
    const answers = await Promise.all(others.map((door) => doors.show(door, secret, turn)))
    const noise = refused[lengths[[20, 200, Infinity].findIndex((most) => secret.length <= most)]!]!
    expect(others.map((door, index) => [door, answers[index]!.said])).toEqual(others.map((door) => [door, noise[door]]))
    expect(others.filter((_, index) => answers[index]!.text.includes(secret))).toEqual([])
    for (const [door, expected] of Object.entries(own[kind]!))
      expect([door, (await doors.show(door as Door, secret, kind.endsWith('key') ? 2 : 0)).said]).toEqual([
        door,
        expected,
      ])
  })
})

const { house } = inject('roster')
test.skipIf(!house)(`no line of the log has one${house ? '' : ' (skipped: there is no log here)'}`, () => {
  const log = readFileSync(house!.logFile, 'utf8')
  expect(log).toContain('roster.users.v1.OAuthService.IssueToken')
  expect([...made].filter(([, secret]) => log.includes(secret))).toEqual([])
})
