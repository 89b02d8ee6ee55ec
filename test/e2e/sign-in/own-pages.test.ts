import { decodeJwt } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { type ExampleApplication, newApplication } from '../../examples/applications.ts'
import { beginAtLogin, loginPages, newLoginClient, onLoginPages } from '../../examples/login-applications.ts'
import { admin, type ExampleHuman, newHuman, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, openBrowser, readText, redeem, redirectUri } from '../../examples/sign-in.ts'
import { issuer } from '../../examples/oauth.ts'
import { factsOf } from '../clients/call.ts'
import { call, over, recordSecret } from '../clients/encodings.ts'

// Login applications, which sign people in on pages of their own.

let home: string
let projectId: string
let person: ExampleHuman
let application: ExampleApplication
let client: { token: string }

beforeAll(async () => {
  home = await newOrganization()
  projectId = await newProject(home)
  person = await newHuman(home, { password: unique('Password') })
  application = await newWebApplication(home, projectId, onLoginPages)
  client = await newLoginClient(await newOrganization())
})

interface Session {
  sessionId: string
  sessionToken: string
}
const begin = async ({ userId }: ExampleHuman): Promise<Session> => {
  const { sessionId, sessionToken } = ok(await call('CreateSession', { userId }, client))
  recordSecret(sessionToken)
  return { sessionId, sessionToken }
}
const check = async ({ sessionId, sessionToken }: Session, { password } = person): Promise<Session> => {
  const answer = ok(await call('SetSession', { sessionId, sessionToken, password }, client))
  recordSecret(answer.sessionToken)
  return { sessionId, sessionToken: answer.sessionToken }
}
const newSession = async (of = person) => check(await begin(of), of)
const answerBy = (authRequestId: string, { sessionId, sessionToken }: Session, more = {}) =>
  call('CreateCallback', { authRequestId, session: { sessionId, sessionToken, ...more } }, client)
const toldBy = ({ callbackUrl }: { callbackUrl: string }) => {
  expect(callbackUrl.startsWith(`${redirectUri}&`)).toBe(true)
  return Object.fromEntries(new URL(callbackUrl).searchParams)
}
const reasonOf = (answer: Awaited<ReturnType<typeof call>>) => (answer.error ? factsOf(answer).reason! : 'in')

describe.each(over('json'))('over $encoding', ({ call }) => {
  test('a person signs in: name, password, code, tokens', async () => {
    const more = { login_hint: person.userName, ui_locales: 'de en', max_age: '600', nonce: 'a nonce' }
    const id = await beginAtLogin(application, more)
    expect(ok(await call('GetAuthRequest', { authRequestId: id }, client)).authRequest).toEqual({
      id,
      creationDate: expect.any(String),
      clientId: application.clientId,
      scope: ['openid', 'profile'],
      redirectUri,
      uiLocales: ['de', 'en'],
      loginHint: person.userName,
      maxAge: '600s',
      applicationName: expect.any(String),
    })
    const { sessionId, ...begun } = ok(await call('CreateSession', { loginName: person.userName }, client))
    expect(ok(await call('GetSession', { sessionId }, client)).session.factors).toEqual({
      user: expect.objectContaining({ id: person.userId, loginName: person.userName, organizationId: home }),
    })
    const { password } = person
    const checked = { sessionId, sessionToken: begun.sessionToken, password }
    const { sessionToken } = ok(await call('SetSession', checked, client))
    expect(ok(await call('GetSession', { sessionId }, client)).session.factors.password).toBeDefined()
    const session = { sessionId, sessionToken }
    const answer = ok(await call('CreateCallback', { authRequestId: id, session }, client))
    const { code, state, iss } = toldBy(answer)
    expect({ state, iss }).toEqual({ state: 'a state & more', iss: issuer() })
    const { status, body } = await redeem(application, code!)
    expect(status).toBe(200)
    const claims = decodeJwt(body.id_token as string)
    expect(claims).toMatchObject({ sub: person.userId, nonce: 'a nonce', sid: sessionId, amr: ['pwd'] })
  })
})

test('a half-done session opens nothing else, and its token is dead once it is whole', async () => {
  const begun = await begin(person)
  const me = (token: string) => call('GetMyUser', {}, { token })
  expect(reasonOf(await me(begun.sessionToken))).toBe('TOKEN_INVALID')
  const id = await beginAtLogin(application)
  expect(reasonOf(await answerBy(id, begun))).toBe('FACTOR_REQUIRED')
  const whole = await check(begun)
  expect(reasonOf(await answerBy(id, begun))).toBe('SESSION_NOT_FOUND')
  expect(ok(await me(whole.sessionToken)).user.userId).toBe(person.userId)
  const again = await check(whole)
  await expect.poll(async () => reasonOf(await me(whole.sessionToken)), { timeout: 5000 }).toBe('TOKEN_INVALID')
  ok(await answerBy(id, again))
})

describe('a login application cannot', () => {
  test('answer for somebody without the token of their session', async () => {
    const other = await newHuman(home, { password: unique('Password') })
    const [mine, theirs] = [await newSession(), await newSession(other)]
    const id = await beginAtLogin(application)
    const mixed = [
      { ...theirs, sessionToken: mine.sessionToken },
      { ...mine, sessionId: theirs.sessionId },
      { ...theirs, sessionToken: client.token },
      { sessionId: 'unknown', sessionToken: 'unknown' },
    ]
    for (const session of mixed) expect(reasonOf(await answerBy(id, session))).toBe('SESSION_NOT_FOUND')
    const { sessionId, sessionToken } = { ...theirs, sessionToken: mine.sessionToken }
    const set = await call('SetSession', { sessionId, sessionToken, password: other.password }, client)
    expect(reasonOf(set)).toBe('SESSION_NOT_FOUND')
  })

  test.each([
    ['ended', async ({ sessionId }: Session) => call('DeleteSession', { sessionId }, admin())],
    ['of a locked user', async (_: Session, userId: string) => call('LockUser', { userId }, admin())],
    [
      'of before a new password',
      async (_: Session, userId: string) =>
        call('SetPassword', { userId, newPassword: { password: unique('P') } }, admin()),
    ],
  ])('use a session that is %s, half-done or whole', async (_, end) => {
    const other = await newHuman(home, { password: unique('Password') })
    const [half, whole] = [await begin(other), await newSession(other)]
    const id = await beginAtLogin(application)
    for (const session of [half, whole]) {
      const ended = await end(session, other.userId)
      if (ended.error && factsOf(ended).reason !== 'USER_ALREADY_LOCKED') ok(ended)
    }
    expect(reasonOf(await answerBy(id, whole))).toBe('SESSION_NOT_FOUND')
    const { sessionId, sessionToken } = half
    const set = await call('SetSession', { sessionId, sessionToken, password: other.password }, client)
    expect(['SESSION_NOT_FOUND', 'CREDENTIALS_INVALID']).toContain(reasonOf(set))
    expect(reasonOf(await answerBy(id, half))).toMatch(/SESSION_NOT_FOUND|FACTOR_REQUIRED/)
  })

  test('read or finish a request of the pages, nor the pages one of a login application', async () => {
    const session = await newSession()
    const browser = openBrowser()
    const page = await browser.visit(authorizePath(await newWebApplication(home, projectId)))
    const [, onPages] = /\/ui\/login\/([\w-]+)/.exec(page.body)!
    for (const authRequestId of [onPages!, 'unknown']) {
      expect(reasonOf(await call('GetAuthRequest', { authRequestId }, client))).toBe('AUTH_REQUEST_NOT_FOUND')
      expect(reasonOf(await answerBy(authRequestId, session))).toBe('AUTH_REQUEST_NOT_FOUND')
    }
    const id = await beginAtLogin(application)
    const unknown = await browser.visit('/ui/login/unknown')
    expect((await browser.visit(`/ui/login/${id}`)).body).toBe(unknown.body)
    expect((await browser.visit(`/oauth/v2/authorize?posted_request=${id}`)).body).not.toContain('name="password"')
    expect(reasonOf(await answerBy(id, session))).toBe('in')
  })

  test('answer a request twice, also at once: one code', async () => {
    const session = await newSession()
    const id = await beginAtLogin(application)
    const answers = await Promise.all(Array.from({ length: 5 }, () => answerBy(id, session)))
    expect(answers.map(reasonOf).toSorted()).toEqual([...Array<string>(4).fill('AUTH_REQUEST_ANSWERED'), 'in'])
    const error = { error: 'ERROR_REASON_ACCESS_DENIED' }
    expect(reasonOf(await call('CreateCallback', { authRequestId: id, error }, client))).toBe('AUTH_REQUEST_ANSWERED')
    expect(reasonOf(await call('GetAuthRequest', { authRequestId: id }, client))).toBe('AUTH_REQUEST_ANSWERED')
  })

  test('bring somebody in whom the project does not admit, or another one than is hinted at', async () => {
    const elsewhere = await newHuman(await newOrganization(), { password: unique('Password') })
    expect(reasonOf(await answerBy(await beginAtLogin(application), await newSession(elsewhere)))).toBe(
      'PERSON_NOT_ADMITTED',
    )
    const claims = JSON.stringify({ id_token: { sub: { value: elsewhere.userId } } })
    const id = await beginAtLogin(application, { claims })
    expect(ok(await call('GetAuthRequest', { authRequestId: id }, client)).authRequest.hintUserId).toBe(
      elsewhere.userId,
    )
    expect(reasonOf(await answerBy(id, await newSession()))).toBe('PERSON_NOT_ADMITTED')
  })

  test('bring in somebody of another organization than the settings of the application name', async () => {
    const organization = await newOrganization()
    const fixed = await newWebApplication(home, projectId, { ...onLoginPages, organizationId: organization })
    const id = await beginAtLogin(fixed)
    const { scope } = ok(await call('GetAuthRequest', { authRequestId: id }, client)).authRequest
    expect(scope).toEqual(['openid', 'profile', `urn:zitadel:iam:org:id:${organization}`])
    expect(reasonOf(await answerBy(id, await newSession(), { consentGiven: true }))).toBe('PERSON_NOT_ADMITTED')
  })
})

describe('nothing is skipped in silence:', () => {
  test('a password that has to be checked again', async () => {
    const session = await newSession()
    const id = await beginAtLogin(application, { prompt: 'login' })
    expect(reasonOf(await answerBy(id, session))).toBe('FACTOR_REQUIRED')
    expect(toldBy(ok(await answerBy(id, await check(session))))).toHaveProperty('code')
  })

  test('consent to an application of others, which is kept, and asked for again by prompt=consent', async () => {
    const third = await newWebApplication(home, projectId, { ...onLoginPages, firstParty: false })
    const other = await newHuman(home, { password: unique('Password') })
    const session = await newSession(other)
    const silent = { prompt: 'none' }
    expect(reasonOf(await answerBy(await beginAtLogin(third, silent), session, { consentGiven: true }))).toBe(
      'CONSENT_REQUIRED',
    )
    expect(reasonOf(await answerBy(await beginAtLogin(third, { scope: '' }), session))).toBe('CONSENT_REQUIRED')
    const id = await beginAtLogin(third)
    const refused = await answerBy(id, session)
    expect(factsOf(refused)).toMatchObject({ reason: 'CONSENT_REQUIRED' })
    expect(refused.error!.message).toContain('openid profile')
    const consents = async () =>
      (ok(await call('SearchUserConsents', { userId: other.userId }, admin())).consents ?? []) as { scopes: string[] }[]
    expect(await consents()).toEqual([])
    expect(toldBy(ok(await answerBy(id, session, { consentGiven: true })))).toHaveProperty('code')
    expect((await consents()).map(({ scopes }) => scopes)).toEqual([['openid', 'profile']])
    for (const more of [{}, silent])
      expect(toldBy(ok(await answerBy(await beginAtLogin(third, more), session)))).toHaveProperty('code')
    const asking = await beginAtLogin(third, { prompt: 'consent' })
    expect(reasonOf(await answerBy(asking, session))).toBe('CONSENT_REQUIRED')
    expect(toldBy(ok(await answerBy(asking, session, { consentGiven: true })))).toHaveProperty('code')
  })

  test('a click where any program of the machine could wait for the code', async () => {
    const native = await newApplication(home, projectId, {
      ...onLoginPages,
      appType: 'OIDC_APP_TYPE_NATIVE',
      authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE',
      redirectUris: ['http://127.0.0.1/callback'],
      firstParty: true,
    })
    const session = await newSession()
    const id = await beginAtLogin(native, { redirect_uri: 'http://127.0.0.1:4711/callback' })
    expect(reasonOf(await answerBy(id, session))).toBe('CONSENT_REQUIRED')
    const { callbackUrl } = ok(await answerBy(id, session, { consentGiven: true }))
    expect(callbackUrl).toMatch(/^http:\/\/127\.0\.0\.1:4711\/callback\?code=/)
  })
})

describe('the application gets errors', () => {
  test.each([
    ['ACCESS_DENIED', 'access_denied'],
    ['SERVER_ERROR', 'server_error'],
    ['TEMPORARY_UNAVAILABLE', 'temporarily_unavailable'],
    ['INTERACTION_REQUIRED', 'interaction_required'],
    ['LOGIN_REQUIRED', 'login_required'],
    ['ACCOUNT_SELECTION_REQUIRED', 'account_selection_required'],
    ['CONSENT_REQUIRED', 'consent_required'],
    ['UNSPECIFIED', 'access_denied'],
  ])('that the login application says: %s', async (reason, error) => {
    const authRequestId = await beginAtLogin(application, { prompt: 'none' })
    const answer = await call('CreateCallback', { authRequestId, error: { error: `ERROR_REASON_${reason}` } }, client)
    expect(toldBy(ok(answer))).toEqual({
      of: 'tests',
      error,
      error_description: expect.any(String),
      state: 'a state & more',
      iss: issuer(),
    })
  })

  test('of a wrong request by a page of Roster, and at once where no page is wanted', async () => {
    const wrong = { scope: `openid urn:zitadel:iam:org:project:id:${projectId}0:aud` }
    for (const [more, error] of [
      [wrong, 'invalid_scope'],
      [{ response_mode: 'form_post' }, 'invalid_request'],
    ] as const) {
      const { status, body } = await openBrowser().visit(authorizePath(application, more))
      const [, link] = /<a id="back" href="([^"]+)"/.exec(body)!
      expect([status, toldBy({ callbackUrl: readText(link!) })['error']]).toEqual([400, error])
    }
    const { location } = await openBrowser().visit(authorizePath(application, { ...wrong, prompt: 'none' }))
    expect(new URL(location).searchParams.get('error')).toBe('invalid_scope')
  })

  test('of what is wrong by now: the settings of the application have changed since the request', async () => {
    const web = { appType: 'OIDC_APP_TYPE_WEB', redirectUris: [redirectUri], ...onLoginPages }
    const changed = await newWebApplication(home, projectId, { ...web, allowMissingPkce: true })
    const asked = { code_challenge: '', code_challenge_method: '' }
    const id = await beginAtLogin(changed, asked)
    const { appId } = changed
    ok(
      await call(
        'UpdateOIDCConfig',
        { projectId, appId, ...web, firstParty: true, allowMissingPkce: false },
        admin(home),
      ),
    )
    await expect.poll(async () => (await openBrowser().visit(authorizePath(changed, asked))).status).toBe(400)
    expect(toldBy(ok(await answerBy(id, await newSession())))['error']).toBe('invalid_request')
  })

  test('and codes in the fragment, where they are asked for so', async () => {
    const id = await beginAtLogin(application, { response_mode: 'fragment' })
    const { callbackUrl } = ok(await answerBy(id, await newSession()))
    const { origin, pathname, search, hash } = new URL(callbackUrl)
    expect(origin + pathname + search).toBe(redirectUri)
    expect(Object.fromEntries(new URLSearchParams(hash.slice(1)))).toEqual({
      code: expect.any(String),
      state: 'a state & more',
      iss: issuer(),
    })
  })
})

describe('who may do what a login application does:', () => {
  const attempts = async (caller: { token?: string }) => {
    const { sessionId, sessionToken } = await begin(person)
    const authRequestId = await beginAtLogin(application)
    const error = { error: 'ERROR_REASON_ACCESS_DENIED' }
    const { password, userId, userName: loginName } = person
    return [
      await call('CreateSession', { userId }, caller),
      await call('CreateSession', { loginName, password, lifetime: '60s' }, caller),
      await call('SetSession', { sessionId, sessionToken, password }, caller),
      await call('GetAuthRequest', { authRequestId }, caller),
      await call('CreateCallback', { authRequestId, error }, caller),
    ].map(reasonOf)
  }

  test('its role, and an owner of the instance', async () => {
    for (const caller of [client, admin()]) expect(await attempts(caller)).toEqual(Array(5).fill('in'))
  })

  test('nobody else', async () => {
    const manager = await newLoginClient(home, 'IAM_ORG_MANAGER')
    for (const caller of [manager, await newMember(home, ['ORG_OWNER'])])
      expect(await attempts({ token: caller.token })).toEqual(Array(5).fill('PERMISSION_DENIED'))
    expect(await attempts({})).toEqual(Array(5).fill('TOKEN_MISSING'))
  })

  test('anybody signs in by name and password, also with a token that is over', async () => {
    const { userName: loginName, password } = person
    ok(await call('CreateSession', { loginName, password }, { token: 'over' }))
    const { error } = await call('CreateSession', { loginName }, {})
    expect(error).toMatchObject({ code: 3 })
  })

  test('it signs an administrator out by the token of the session alone', async () => {
    const owner = await newHuman(home, { password: unique('Password') })
    ok(await call('AddOrganizationMember', { userId: owner.userId, roles: ['ORG_OWNER'] }, admin(home)))
    for (const session of [await begin(owner), await newSession(owner)]) {
      const { sessionId } = session
      expect(reasonOf(await call('DeleteSession', { sessionId }, client))).toBe('PERMISSION_DENIED')
      expect(reasonOf(await call('DeleteSession', { ...session, sessionToken: 'x' }, client))).toBe('PERMISSION_DENIED')
      ok(await call('DeleteSession', { sessionId, sessionToken: session.sessionToken }, client))
      expect(reasonOf(await call('GetSession', { sessionId }, client))).toBe('SESSION_NOT_FOUND')
    }
  })
})

test('a login application lies at https, or on its own machine in development', async () => {
  const add = async (baseUri: string | undefined, devMode = false) => {
    const loginVersion = { loginV2: baseUri === undefined ? {} : { baseUri } }
    const request = { projectId, name: unique('Application'), devMode, loginVersion }
    return call('AddOIDCApplication', request, admin(home))
  }
  const field = 'loginVersion.loginV2.baseUri'
  for (const uri of [undefined, '', 'http://login.example.com', 'javascript:alert(1)', `${loginPages}?a`, '/login'])
    expect(factsOf(await add(uri)).fields).toEqual([field])
  const odd = ['/..//', '/a/..', '/./', '//', '/a//b', '/%2e%2e/', '/a%2fb', ':443/']
  for (const rest of odd)
    expect([rest, factsOf(await add(`https://login.example.com${rest}`)).fields]).toEqual([rest, [field]])
  expect(factsOf(await add('https://LOGIN.example.com/')).fields).toEqual([field])
  expect(factsOf(await add('http://localhost:3000')).fields).toEqual([field])
  const { appId } = ok(await add('http://localhost:3000/', true))
  const config = async () =>
    ok(await call('GetApplication', { projectId, appId }, admin(home))).application.oidcConfig.loginVersion
  expect(await config()).toEqual({ loginV2: { baseUri: 'http://localhost:3000/' } })
  ok(await call('UpdateOIDCConfig', { projectId, appId, loginVersion: { loginV1: {} } }, admin(home)))
  expect(await config()).toBeUndefined()
})
