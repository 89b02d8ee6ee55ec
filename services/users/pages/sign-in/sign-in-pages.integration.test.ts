import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { OIDCAppType } from '#gen/roster/grants/v1/application_service'
import { lockUser } from '../../directory/operations/user/lock-user.ts'
import { unlockUser } from '../../directory/operations/user/unlock-user.ts'
import { readSecret } from '../../directory/secrets/secret.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import type { Authorization } from '../../openid/events/authorization.ts'
import { type Fault, faults as words } from '../../openid/request/read-parameters.ts'
import {
  addPerson,
  challenge,
  noteApplication,
  nothingNewer,
  redirectUri,
  requestOf,
  said,
  told,
  usual,
  Visitor,
} from '../../openid/authorization/testing/visitors.ts'

let database: TestDatabase
let users: TestUsers
let domains: { stop(): Promise<void> }
let ada: string

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  domains = await serveDomains(
    { 'acme.example': 'acme', 'umbrella.example': 'umbrella' },
    {},
    { copied: nothingNewer(['client', 'first', 'native', 'checked', 'fixed', 'elsewhere']) },
  )
  await noteApplication(users, 'client', { redirectUris: [redirectUri, `${redirectUri}?a=b`] })
  await noteApplication(users, 'first', { firstParty: true, redirectUris: [redirectUri] }, { organizationId: 'acme' })
  await noteApplication(
    users,
    'native',
    {
      appType: OIDCAppType.OIDC_APP_TYPE_NATIVE,
      redirectUris: ['http://127.0.0.1/cb'],
      firstParty: true,
    },
    { organizationId: 'acme' },
  )
  await noteApplication(users, 'elsewhere', { loginBaseUri: 'https://login.example.com' })
  await noteApplication(users, 'checked', {}, { hasProjectCheck: true })
  await noteApplication(users, 'fixed', { organizationId: 'acme' })
  ada = await addPerson(users, 'ada')
  await addPerson(users, 'grace')
}, 60_000)

afterAll(async () => {
  await Promise.all([users?.stop(), domains?.stop()])
  await database?.drop()
})

const granted = async (code: string) => {
  const [id] = readSecret(users.keys, 'code', code)!
  return (await users.store.load<Authorization>('authorization', id!))!.state
}
const eventsOf = (sessionId: string) =>
  users.sql<{ type: string }[]>`
    select type from events where aggregate_type = 'session' and aggregate_id = ${sessionId} order by sequence
  `.then((rows) => rows.map(({ type }) => type))

describe('a person comes to an application:', () => {
  const visitor = () => new Visitor(users)

  test('by name and password, and consent; then at once', async () => {
    const browser = visitor()
    const page = await browser.begin({ nonce: 'n', loginHint: 'somebody' })
    expect(page).toMatchObject({
      answer: { $case: 'signIn', value: { loginName: 'somebody', nameIsFixed: false, error: 0 } },
      destination: { applicationName: 'App client', host: 'app.example.com' },
    })
    const before = browser.cookie
    const asking = await browser.signIn(page, 'ada')
    expect(browser.cookie).not.toBe(before)
    expect(asking.answer).toMatchObject({
      $case: 'consent',
      value: { account: { displayName: 'The ada', loginName: 'ada' }, scopes: ['openid', 'profile'], clickOnly: false },
    })
    const leaving = await browser.decide(asking, 'allow')
    expect(leaving.answer?.$case).toBe('leaving')
    const { code, ...rest } = told(leaving)
    expect(rest).toEqual({ state: 'the state', iss: users.config.PUBLIC_URL })
    const authorization = await granted(code!)
    expect(authorization).toMatchObject({
      userId: ada,
      applicationId: 'app-client',
      projectId: 'project-of-client',
      scope: 'openid profile',
      redirectUri,
      challenge,
      offline: false,
      factors: [{ kind: 'password', at: authorization.authTime }],
      rounds: { user: 0, organization: 0, projectOrganization: 0, application: 0, project: 0, consent: 0 },
    })
    expect(await eventsOf(authorization.sessionId)).toEqual(['created'])
    const [secret] = await users.sql<{ detail: Buffer }[]>`select detail from secrets where user_id = ${ada}`
    expect(JSON.parse(users.keys.decrypt('secret-detail', secret!.detail))).toEqual({ nonce: 'n' })
    // The page is shown once.
    expect(said(await browser.show(asking.requestId))).toBe('notice 5')
    const again = await browser.authorize()
    expect(again).toMatchObject({ answer: { $case: 'redirect' }, newBrowser: '' })
    expect((await granted(told(again)['code']!)).sessionId).toBe(authorization.sessionId)
    expect(told(await browser.authorize({ prompt: 'none', responseMode: 'form_post' }))['code']).toBeDefined()
  })

  test('with a further scope: only that is asked for', async () => {
    const browser = visitor()
    await browser.signIn(await browser.begin(), 'ada')
    expect(said(await browser.begin({ scope: 'openid profile email unknown phone' }))).toBe('consent email')
    expect(said(await browser.begin({ claims: '{"userinfo":{"email":null}}' }))).toBe('consent email')
    expect(told(await browser.authorize({ scope: 'openid email', prompt: 'none' }))['error']).toBe('consent_required')
  })

  test('without a question where it is of the own organization; on this machine by a click', async () => {
    const browser = visitor()
    expect(told(await browser.signIn(await browser.begin({ clientId: 'first' }), 'ada'))['code']).toBeDefined()
    const native = { clientId: 'native', redirectUri: 'http://127.0.0.1:51004/cb' }
    const page = await browser.begin(native)
    expect(said(page)).toBe('consent click')
    expect(told(await browser.authorize({ ...native, prompt: 'none' }))['error']).toBe('interaction_required')
    const leaving = await browser.decide(page, 'allow')
    expect((await granted(told(leaving)['code']!)).redirectUri).toBe(native.redirectUri)
  })

  test('and may refuse, before and after signing in', async () => {
    const browser = visitor()
    const page = await browser.begin()
    await browser.post(page, { action: 'cancel' })
    const cancelled = await browser.show(page.requestId)
    expect(cancelled.answer).toMatchObject({ $case: 'notice', value: { applicationOrigin: 'https://app.example.com' } })
    const { location } = (cancelled.answer as { value: { location: string } }).value
    expect(Object.fromEntries(new URL(location).searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'the state',
    })
    const asking = await browser.signIn(await browser.begin({ prompt: 'consent' }), 'ada')
    expect(told(await browser.decide(asking, 'deny'))).toMatchObject({
      error: 'access_denied',
      iss: users.config.PUBLIC_URL,
    })
    expect(said(await browser.show(asking.requestId))).toBe('notice 5')
  })

  test('as the account that is chosen', async () => {
    const browser = visitor()
    await browser.signIn(await browser.begin({ clientId: 'first' }), 'ada')
    const choice = await browser.begin({ clientId: 'first', prompt: 'select_account' })
    const other = await browser.choose(choice, '')
    expect(said(other)).toBe('sign-in 0')
    expect(told(await browser.signIn(other, 'grace'))['code']).toBeDefined()
    const page = await browser.begin({ clientId: 'first' })
    const { accounts } = (page.answer as { value: { accounts: { sessionId: string; loginName: string }[] } }).value
    expect(accounts.map(({ loginName }) => loginName)).toEqual(['grace', 'ada'])
    const before = browser.cookie
    const leaving = await browser.choose(page, accounts[1]!.sessionId)
    expect(browser.cookie).not.toBe(before)
    expect((await granted(told(leaving)['code']!)).userId).toBe(ada)
    expect(await eventsOf(accounts[1]!.sessionId)).toEqual(['created', 'chosen'])
    // The one that the application used last.
    expect((await granted(told(await browser.authorize({ clientId: 'first', prompt: 'none' }))['code']!)).userId).toBe(
      ada,
    )
    expect(told(await browser.authorize({ clientId: 'client', prompt: 'none' }))['error']).toBe(
      'account_selection_required',
    )
    const hint = `{"id_token":{"sub":{"value":"${ada}"}}}`
    expect((await granted(told(await browser.authorize({ claims: hint, prompt: 'none' }))['code']!)).userId).toBe(ada)
  })

  test('with a fresh password where that is asked for: the same session goes on', async () => {
    const browser = visitor()
    const first = await granted(told(await browser.signIn(await browser.begin({ clientId: 'first' }), 'ada'))['code']!)
    for (const fresh of [{ prompt: 'login' }, { maxAge: '0' }]) {
      const page = await browser.begin({ clientId: 'first', ...fresh })
      expect(page.answer).toMatchObject({ $case: 'signIn', value: { loginName: 'ada', nameIsFixed: true } })
      const later = await granted(told(await browser.signIn(page, 'ada'))['code']!)
      expect(later.sessionId).toBe(first.sessionId)
      expect(Date.parse(later.authTime)).toBeGreaterThan(Date.parse(first.authTime))
    }
    expect(await eventsOf(first.sessionId)).toEqual(['created', 'factor.checked', 'factor.checked'])
    expect(
      (await granted(told(await browser.authorize({ clientId: 'first', maxAge: '3600' }))['code']!)).sessionId,
    ).toBe(first.sessionId)
  })

  test('unless the project does not admit them, or another person is asked for', async () => {
    const browser = visitor()
    expect(said(await browser.signIn(await browser.begin({ clientId: 'checked' }), 'grace'))).toBe('noAccess')
    const hint = `{"id_token":{"sub":{"value":"${ada}"}}}`
    expect(said(await browser.signIn(await browser.begin({ clientId: 'first', claims: hint }), 'grace'))).toBe(
      'sign-in 4',
    )
    for (const name of ['id:umbrella', 'domain:primary:umbrella.example', 'domain:primary:unknown.example']) {
      const scope = `openid urn:zitadel:iam:org:${name}`
      expect(said(await browser.signIn(await browser.begin({ clientId: 'first', scope }), 'grace'))).toBe('sign-in 1')
    }
    const scope = 'openid urn:zitadel:iam:org:domain:primary:ACME.example'
    const { code } = told(await browser.authorize({ clientId: 'first', scope }))
    // Later stages judge it again.
    expect(await granted(code!)).toMatchObject({ organizationScope: 'acme' })
    // Blanks too many separate nothing.
    for (const text of [` ${scope}  profile `, ' ', ''])
      expect(told(await browser.authorize({ clientId: 'first', scope: text }))['code']).toBeDefined()
  })
})

describe('an application whose settings name an organization', () => {
  const ofAcme = { clientId: 'fixed', scope: 'openid profile' }
  const named = (id: string) => ({ ...ofAcme, scope: `openid urn:zitadel:iam:org:id:${id}` })

  test('lets in its people alone, whatever the address says', async () => {
    const [browser, another] = [new Visitor(users), new Visitor(users)]
    await addPerson(users, 'ursula', 'umbrella')
    await another.signIn(await another.begin({ clientId: 'client' }), 'ursula')
    for (const request of [ofAcme, { clientId: 'fixed', scope: '' }]) {
      expect(said(await another.begin(request))).toBe('noAccess')
      // Its name is unknown where only people of the organization are looked for.
      expect(said(await another.signIn(await another.begin(request), 'ursula'))).toBe('sign-in 1')
      expect(told(await another.authorize({ ...request, prompt: 'none' }))['code']).toBeUndefined()
    }
    const asking = await browser.signIn(await browser.begin(ofAcme), 'ada')
    const authorization = await granted(told(await browser.decide(asking, 'allow'))['code']!)
    expect(authorization).toMatchObject({ userId: ada, organizationScope: 'acme' })
    expect(said(await browser.begin(named('acme')))).toBe('consent urn:zitadel:iam:org:id:acme')
  })

  test('refuses a scope that names another one', async () => {
    for (const id of ['umbrella', '-'])
      expect(told(await new Visitor(users).authorize({ ...named(id), prompt: 'none' }))['error']).toBe('invalid_scope')
  })
})

describe('a session of a browser ends', () => {
  test('with a lock, also one that was taken back', async () => {
    const userId = await addPerson(users, 'locked')
    const browser = new Visitor(users)
    await browser.signIn(await browser.begin({ clientId: 'first' }), 'locked')
    expect(told(await browser.authorize({ clientId: 'first' }))['code']).toBeDefined()
    const asking = await browser.begin({ clientId: 'first', prompt: 'consent' })
    expect(said(asking)).toBe('consent openid profile')
    await lockUser(users, { userId }, callIn('acme'))
    expect(said(await browser.decide(asking, 'allow'))).toBe('sign-in 0')
    await unlockUser(users, { userId }, callIn('acme'))
    expect(said(await browser.decide(asking, 'allow'))).toBe('sign-in 0')
    expect(said(await browser.begin({ clientId: 'first' }))).toBe('sign-in 0')
    expect(told(await browser.authorize({ clientId: 'first', prompt: 'none' }))['error']).toBe('login_required')
  })

  test('with a lock that comes between a look at it and the answer', async () => {
    const userId = await addPerson(users, 'raced')
    const browser = new Visitor(users)
    await browser.signIn(await browser.begin({ clientId: 'first' }), 'raced')
    const { execute } = users.store
    vi.spyOn(users.store, 'execute').mockImplementationOnce(async (command) => {
      await lockUser(users, { userId }, callIn('acme'))
      return execute(command)
    })
    expect(told(await browser.authorize({ clientId: 'first', prompt: 'none' }))['error']).toBe('login_required')
  })
})

describe('a faulty request', () => {
  const notices: [string, object, string][] = [
    ['an unknown client', { clientId: 'nobody' }, 'notice 1'],
    ['no client', { clientId: '' }, 'notice 1'],
    ['two clients', { repeatedParameters: ['client_id'] }, 'notice 1'],
    ['another redirect URI', { redirectUri: `${redirectUri}/` }, 'notice 2'],
    ['no redirect URI', { redirectUri: '' }, 'notice 2'],
    ['two redirect URIs', { repeatedParameters: ['redirect_uri'] }, 'notice 2'],
    ['a state that is too long', { state: 'x'.repeat(8193) }, 'notice 3'],
    ['more than is kept', { scope: 'x'.repeat(16_000), loginHint: 'x'.repeat(1000) }, 'notice 3'],
  ]
  test.each(notices)('with %s gets a page, whatever else it says', async (_, parameters, page) => {
    const others: object[] = [
      ...['query', 'form_post', 'form_post.jwt', 'fragment'].map((responseMode) => ({ responseMode })),
      { responseType: 'token' },
      { request: 'x' },
      { scope: 'openid project:another' },
    ]
    for (const other of [{}, ...others])
      for (const prompt of ['', 'none'])
        expect(said(await new Visitor(users).authorize({ ...other, ...parameters, prompt }))).toBe(page)
  })

  const faults: [object, string][] = [
    ...['scope', 'state', 'nonce', 'prompt', 'response_type', 'code_challenge', 'claims', 'unknown'].map(
      (name): [object, string] => [{ repeatedParameters: [name] }, 'invalid_request'],
    ),
    [{ responseType: '' }, 'invalid_request'],
    [{ responseType: 'token' }, 'unsupported_response_type'],
    [{ responseMode: 'fragment' }, 'invalid_request'],
    [{ request: 'x' }, 'request_not_supported'],
    [{ requestUri: 'x' }, 'request_uri_not_supported'],
    [{ resource: 'https://api.example.com' }, 'invalid_target'],
    [{ repeatedParameters: ['resource'] }, 'invalid_target'],
    [{ repeatedParameters: ['resource', 'unknown'] }, 'invalid_request'],
    [{ codeChallenge: '' }, 'invalid_request'],
    [{ codeChallenge: '', codeChallengeMethod: '' }, 'invalid_request'],
    [{ codeChallengeMethod: '' }, 'invalid_request'],
    [{ codeChallengeMethod: 'plain' }, 'invalid_request'],
    [{ maxAge: '-1' }, 'invalid_request'],
    [{ maxAge: 'x' }, 'invalid_request'],
    [{ nonce: 'x'.repeat(1025) }, 'invalid_request'],
    [{ dpopJkt: 'x' }, 'invalid_request'],
    [{ claims: '[]' }, 'invalid_request'],
    [{ claims: '{"id_token":{"acr":{"essential":true,"value":"phr"}}}' }, 'unmet_authentication_requirements'],
    [{ scope: 'openid project:another' }, 'invalid_scope'],
    [{ scope: 'openid urn:zitadel:iam:org:project:id:zitadel:aud' }, 'invalid_scope'],
    ...[
      'id:',
      'id:acme/',
      'ID:acme',
      'id:acme urn:zitadel:iam:org:id:umbrella',
      'domain:primary:',
      'domain:primary:acme.example urn:zitadel:iam:org:domain:primary:umbrella.example',
      'domain:primary:acme.example,urn:zitadel:iam:org:id:acme',
      'domain:PRIMARY:acme.example',
    ].map((name): [object, string] => [{ scope: `openid urn:zitadel:iam:org:${name}` }, 'invalid_scope']),
    // What stands between two scopes for somebody who reads it, and is no blank.
    ...['\t', ',', '"', '\n', '\r\n', '\u00a0', '\u2003', '+', ';', '%20', '\\', '\0'].flatMap((between) =>
      ['id:acme', 'domain:primary:acme.example'].map((name): [object, string] => [
        { scope: `openid${between}urn:zitadel:iam:org:${name}` },
        'invalid_scope',
      ]),
    ),
    ...['URN:ZITADEL:IAM:ORG:ID:acme', 'urn%3Azitadel%3aiam%253Aorg%3Aid%3Aacme', 'xurn:zitadel:iam:org:id:acme'].map(
      (name): [object, string] => [{ scope: `openid ${name}` }, 'invalid_scope'],
    ),
    ...['openid\tprofile', 'openid é', 'openid "x"', 'unknown phone', 'urn:zitadel:iam:user:metadata'].map(
      (scope): [object, string] => [{ scope }, 'invalid_scope'],
    ),
  ]
  test.each(faults)('with %j is answered: %s', async (parameters, error) => {
    const answer = await new Visitor(users).authorize({ ...usual, ...parameters, prompt: 'none' })
    // None of its words come from the request.
    const error_description = words[error as Fault]
    expect(told(answer)).toEqual({ error, error_description, state: 'the state', iss: users.config.PUBLIC_URL })
  })

  describe('with a request object is refused by the way and with the state that it names:', () => {
    const objectOf = (payload: unknown) =>
      `${[{ alg: 'none' }, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`
    const formPost = { response_mode: 'form_post' }
    const long = { ...formPost, state: 'x', filler: 'x'.repeat(6000) }
    const objects: [string, string, string, string][] = [
      ['both', objectOf({ ...formPost, state: 'its own' }), 'formPost', 'its own'],
      ['the mode alone', objectOf(formPost), 'formPost', 'the state'],
      ['the state alone', objectOf({ state: 'its own' }), 'redirect', 'its own'],
      ['another mode', objectOf({ response_mode: 'fragment', state: 'its own' }), 'redirect', 'its own'],
      ['values of other kinds', objectOf({ response_mode: [formPost], state: 7 }), 'redirect', 'the state'],
      ['an empty state', objectOf({ ...formPost, state: '' }), 'formPost', 'the state'],
      ['a state that no query has', objectOf({ state: 'a\0b' }), 'redirect', 'the state'],
      ['8 KiB', objectOf(long).padEnd(8192, 'x'), 'formPost', 'x'],
      ['more', objectOf(long).padEnd(8193, 'x'), 'redirect', 'the state'],
      ['no object', objectOf(['form_post']), 'redirect', 'the state'],
      ['no JWT', 'x', 'redirect', 'the state'],
    ]
    test.each(objects)('%s', async (_, request, way, state) => {
      const answer = await new Visitor(users).authorize({ request, prompt: 'none' })
      expect(answer.answer?.$case).toBe(way)
      expect(told(answer)).toMatchObject({ error: 'request_not_supported', state })
    })

    test('of the two ways, that of the object; a page that came before changes nothing', async () => {
      const request = objectOf({ response_mode: 'query', state: 'its own', redirect_uri: 'https://evil.example' })
      const browser = new Visitor(users)
      const leaving = await browser.signIn(await browser.begin({ request, responseMode: 'form_post' }), 'ada')
      expect(leaving.answer?.$case).toBe('leaving')
      expect(told(leaving)).toMatchObject({ error: 'request_not_supported', state: 'its own' })
    })

    test('no other fault is answered by it, nor one of a login application by a form', async () => {
      const request = objectOf({ ...formPost, state: 'its own' })
      const other = await new Visitor(users).authorize({ request, responseType: '', prompt: 'none' })
      expect([other.answer?.$case, told(other)['state']]).toEqual(['redirect', 'the state'])
      const refused = await new Visitor(users).authorize({ clientId: 'elsewhere', request, prompt: 'none' })
      expect([refused.answer?.$case, told(refused)['state']]).toEqual(['redirect', 'its own'])
    })
  })

  test('sends nobody anywhere before somebody is signed in', async () => {
    const browser = new Visitor(users)
    const page = await browser.begin({ responseType: 'token', redirectUri: `${redirectUri}?a=b` })
    expect(said(page)).toBe('sign-in 0')
    const leaving = await browser.signIn(page, 'ada')
    expect(told(leaving)).toMatchObject({ a: 'b', error: 'unsupported_response_type' })
    expect(said(await browser.show(page.requestId))).toBe('notice 5')
    expect(told(await browser.authorize({ responseType: 'token' }))['error']).toBe('unsupported_response_type')
  })

  test('with two prompts of which one is none is answered at once', async () => {
    expect(told(await new Visitor(users).authorize({ prompt: 'none login' }))['error']).toBe('invalid_request')
    expect(told(await new Visitor(users).authorize({ prompt: 'none' }))['error']).toBe('login_required')
  })
})

test('a POST waits for its browser, a minute and once', async () => {
  const browser = new Visitor(users)
  const kept = await browser.authorize({ posted: true })
  const { location } = (kept.answer as { value: { location: string } }).value
  const postedRequest = new URL(location, 'http://x').searchParams.get('posted_request')!
  expect(kept.newBrowser).toBe('')
  const begun = await browser.authorize({ ...usual, clientId: 'evil', state: '', postedRequest })
  expect(said(await browser.show(requestOf(begun)))).toBe('sign-in 0')
  expect(said(await browser.authorize({ postedRequest }))).toBe('notice 4')
})
