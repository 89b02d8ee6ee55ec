import { beforeAll, describe, expect, inject, test } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { basic, sendForm, tokenPath } from '../../examples/oauth.ts'
import { type ExampleHuman, newHuman, newOrganization, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import {
  authorizePath,
  newCode,
  newWebApplication,
  openBrowser,
  redeem,
  redirectUri,
  verifier,
} from '../../examples/sign-in.ts'
import { watchRequest } from '../mistakes/log-line.ts'

let home: string
let projectId: string
let person: ExampleHuman
const browser = openBrowser()
const both = ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN']
const open = { appType: 'OIDC_APP_TYPE_USER_AGENT', authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE' }
const add = (more = {}) => newWebApplication(home, projectId, { grantTypes: both, ...more })

beforeAll(async () => {
  home = await newOrganization()
  projectId = await newProject(home)
  person = await newHuman(home, { password: unique('Password') })
})

const codeOf = (application: ExampleApplication, more = {}) => newCode(person, application, more, browser)
const refreshTokenOf = async (application: ExampleApplication): Promise<string> =>
  (await redeem(application, await codeOf(application, { scope: 'openid offline_access' }))).body.refresh_token
const revoke = (application: ExampleApplication, token: string) => {
  const { clientId, clientSecret } = application
  const id = clientSecret === '' ? { client_id: clientId } : {}
  return sendForm('/oauth/v2/revoke', { token, ...id }, { headers: clientSecret ? basic(clientId, clientSecret) : {} })
}

type Refused = (application: ExampleApplication, headers: Record<string, string>) => ReturnType<typeof redeem>
const redeemed =
  (more: Record<string, string>): Refused =>
  async (application, headers) =>
    redeem(application, await codeOf(application), more, undefined, headers)
const again: Refused = async (application, headers) => {
  const code = await codeOf(application)
  await redeem(application, code)
  return redeem(application, code, {}, undefined, headers)
}
const ofAnother: Refused = async (application, headers) =>
  redeem(application, await codeOf(await add()), {}, undefined, headers)

test.each([
  ['no code', { code: '', redirect_uri: redirectUri, grant_type: 'authorization_code' }, 'code'],
  ['no redirect URI', { code: 'c', grant_type: 'authorization_code' }, 'redirect_uri'],
  ['no refresh token', { grant_type: 'refresh_token' }, 'refresh_token'],
  ['no assertion', { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer' }, 'assertion'],
  ['no grant type', {}, 'grant_type'],
  ['an unknown grant type', { grant_type: 'password' }, 'grant_type'],
  [
    'an assertion without its type',
    { grant_type: 'client_credentials', client_assertion: 'x' },
    'client_assertion_type',
  ],
  ['a verifier that is too long', { grant_type: 'password', code_verifier: 'x'.repeat(129) }, 'code_verifier'],
  ['a resource that is too long', { grant_type: 'x', resource: 'x'.repeat(2001) }, 'resource'],
])('of %s everybody is told by the name that the parameter has on the wire', async (_, form, name) => {
  const { status, body } = await sendForm(tokenPath, form)
  expect([status, body.error]).toEqual([400, expect.stringMatching(/^(invalid_request|unsupported_grant_type)$/)])
  expect(body.error_description).toMatch(new RegExp(`^${name}: `))
})

test.each(['/oauth/v2/introspect', '/oauth/v2/revoke'])(
  '%s names what is missing or too long as it is sent',
  async (path) => {
    const said = async (form: Record<string, string>) => (await sendForm(path, form)).body.error_description
    expect(await said({})).toBe('token: value is required')
    expect(await said({ token: 't', token_type_hint: 'x'.repeat(201) })).toMatch(/^token_type_hint: /)
    expect(await said({ token: 't', client_assertion: 'x' })).toMatch(/^client_assertion_type: /)
  },
)

const faults: { fault: string; reason: string; ask: Refused; says: RegExp; more?: object }[] = [
  { fault: 'another verifier', reason: 'verifier', ask: redeemed({ code_verifier: verifier.toUpperCase() }), says: /^code_verifier: it does not fit/ },
  { fault: 'a verifier for a code without challenge', reason: 'verifier', ask: async (application, headers) => redeem(application, await codeOf(application, { code_challenge: '', code_challenge_method: '' }), {}, undefined, headers), says: /^code_verifier: the code was asked for without a code_challenge/ },
  { fault: 'another redirect URI', reason: 'redirect-uri', ask: redeemed({ redirect_uri: `${redirectUri}/` }), says: /^redirect_uri: it is another one/ },
  { fault: 'a code that was used', reason: 'code-reuse', ask: again, says: /^code: it was used before/ },
  { fault: 'a code that is none', reason: 'unknown', ask: redeemed({ code: 'magic' }), says: /^code: it is none that this application got/ },
  { fault: 'a code of another application', reason: 'client', ask: ofAnother, says: /^code: it is none that this application got/ },
  { fault: 'a refresh token that is none', reason: 'unknown', ask: (application, headers) => refreshing(application, 'magic', headers), says: /^refresh_token: it is none/ },
  { fault: 'a refresh token of another application', reason: 'client', ask: async (application, headers) => refreshing(application, await refreshTokenOf(await add()), headers), says: /^refresh_token: it is none/ },
  { fault: 'a refresh token that was revoked', reason: 'revoked', ask: async (application, headers) => { const token = await refreshTokenOf(application); await revoke(application, token); return refreshing(application, token, headers) }, says: /^refresh_token: its sign-in is over, since the application revoked it/ },
] // prettier-ignore

function refreshing(application: ExampleApplication, token: string, headers: Record<string, string>) {
  const form = { grant_type: 'refresh_token', refresh_token: token, redirect_uri: '', code_verifier: '' }
  return redeem(application, '', form, undefined, headers)
}

const { house } = inject('roster')

describe('what is wrong with a code or a refresh token', () => {
  test.each(faults)('is told to an application that proved who it is: $fault', async ({ ask, says }) => {
    const { status, body } = await ask(await add({ allowMissingPkce: true }), {})
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_grant' })
    expect(body.error_description).toMatch(says)
  })

  test('of another application is what it is of none, word for word', async () => {
    const application = await add()
    const answers = await Promise.all([ofAnother(application, {}), redeemed({ code: 'magic' })(application, {})])
    expect(answers[0].body).toEqual(answers[1].body)
    const used = await refreshTokenOf(await add())
    const tokens = await Promise.all([refreshing(application, used, {}), refreshing(application, 'magic', {})])
    expect(tokens[0].body).toEqual(tokens[1].body)
  })

  test.skipIf(!house)(
    'is one sentence to a public application, and the log has which, by the request id in it',
    async () => {
      const application = await add(open)
      const answers: string[] = []
      for (const { ask, reason, fault } of faults.filter(({ fault }) => !fault.includes('without challenge'))) {
        const { headers: sent, requestId, logged } = watchRequest()
        const { body, headers } = await ask(application, sent)
        expect(headers.get('x-request-id')).toBe(requestId)
        expect(body.error_description).toContain(`(request id ${requestId})`)
        const lines = await logged()
        expect(lines, fault).toEqual([
          expect.objectContaining({ msg: 'a token request was refused', clientId: application.clientId, reason }),
        ])
        answers.push(body.error_description.replace(requestId, 'ID').replace(/^refresh_token.*$/, 'refresh_token'))
      }
      expect([...new Set(answers)]).toEqual([
        expect.stringMatching(/^code: it is unknown, expired or used, or /),
        'refresh_token',
      ])
    },
  )
})

test('a public application that sends no verifier, or one that cannot be any, is told so, whatever the code is', async () => {
  const application = await add(open)
  for (const code of ['magic', await codeOf(application)])
    for (const [code_verifier, says] of [
      ['', 'it is missing'],
      ['short', 'it must be 43 to 128'],
    ] as const) {
      const { body } = await redeem(application, code, { code_verifier })
      expect(body).toMatchObject({
        error: 'invalid_grant',
        error_description: expect.stringContaining(`code_verifier: ${says}`),
      })
    }
})

describe.skipIf(!house)('the log', () => {
  const refusedBy = async (form: Record<string, string>, more: Record<string, string> = {}) => {
    const { headers, requestId, logged } = watchRequest()
    const { body, headers: answered } = await sendForm(
      tokenPath,
      { grant_type: 'refresh_token', refresh_token: 't', ...form },
      { headers: { ...headers, ...more } },
    )
    return { body, requestId, challenge: answered.get('www-authenticate'), lines: await logged() }
  }

  test('tells apart why a client is refused, which the answer does not: it names the line, in header and body', async () => {
    const { clientId, clientSecret } = await add()
    const signing = await add({ authMethodType: 'OIDC_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT' })
    const unknown = '00000000-0000-7000-8000-00000000000a'
    const answers = [
      [await refusedBy({}, basic(clientId, 'wrong')), 'secret', clientId],
      [await refusedBy({}, basic(unknown, 'wrong')), 'unknown', unknown],
      [await refusedBy({}, basic(signing.clientId, 'wrong')), 'method', signing.clientId],
      // Id and secret in each other's place.
      [await refusedBy({}, basic(clientSecret, clientId)), 'unknown', undefined],
    ] as const
    const says = new Set<string>()
    for (const [{ body, requestId, challenge, lines }, reason, named] of answers) {
      expect(lines).toMatchObject([{ msg: 'a client was refused', reason, method: 'client_secret_basic' }])
      expect(lines[0]!['clientId']).toBe(named)
      const { error, error_description: text } = body
      expect(text).toContain(`(request id ${requestId})`)
      expect(challenge).toBe(`Basic realm="roster", error="${error}", error_description="${text}"`)
      says.add(JSON.stringify(body).replace(requestId, 'ID'))
      expect(JSON.stringify(lines)).not.toContain(clientSecret)
    }
    expect(says.size).toBe(1)
    expect((await refusedBy({})).body.error_description).toMatch(/^client_id: it is missing/)
  })

  test.each([
    ['the application has no grant for it', ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE'], 'no-refresh-token'],
    ['without a page nobody could be asked', both, 'no-consent'],
  ])('says why offline_access was left out, since %s', async (_, grantTypes, reason) => {
    const application = await add({ grantTypes, firstParty: false })
    await codeOf(application, { scope: 'openid' })
    const { headers, logged } = watchRequest()
    const path = authorizePath(application, { scope: 'openid offline_access', prompt: 'none' })
    const code = new URL((await browser.visit(path, { headers })).location).searchParams.get('code')!
    const line = { clientId: application.clientId, authorizationId: expect.any(String) }
    expect(await logged()).toMatchObject([
      { msg: 'a code was given', ...line, userId: expect.any(String), sessionId: expect.any(String) },
      { msg: 'offline_access was left out', ...line, reason },
    ])
    const { body } = await redeem(application, code)
    expect(body.scope).toBe('openid')
    expect(body).not.toHaveProperty('refresh_token')
  })

  test('says that a code was given, and nothing of offline_access where that is given', async () => {
    const { headers, ended } = watchRequest()
    const path = authorizePath(await add(), { scope: 'openid offline_access' })
    expect((await browser.visit(path, { headers })).location).toContain('code=')
    expect((await ended()).map(({ msg }) => msg)).toEqual(['a code was given', 'call'])
  })
})
