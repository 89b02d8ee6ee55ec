import { type NoticePage, type PageAnswer, ParameterRule } from '#gen/roster/users/v1/sign_in_service'
import { createLog } from '#lib/log'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { OIDCAppType, OIDCAuthMethodType } from '#gen/roster/grants/v1/application_service'
import { lockUser } from '../../directory/operations/user/lock-user.ts'
import { unlockUser } from '../../sessions/operations/unlock-user.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { hostOf } from '../../openid/request/redirect-uri.ts'
import {
  addPerson,
  challenge,
  noteApplication,
  nothingNewer,
  redirectUri,
  requestOf,
  said,
  sealedIn,
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
    {
      copied: nothingNewer(['client', 'first', 'public', 'lax', 'native', 'checked', 'fixed', 'elsewhere', 'changing']),
    },
  )
  await noteApplication(users, 'client', { redirectUris: [redirectUri, `${redirectUri}?a=b`] })
  await noteApplication(users, 'first', { firstParty: true, redirectUris: [redirectUri] }, { organizationId: 'acme' })
  await noteApplication(
    users,
    'native',
    {
      appType: OIDCAppType.OIDC_APP_TYPE_NATIVE,
      redirectUris: ['http://127.0.0.1/cb', 'com.example.app:/cb'],
      firstParty: true,
    },
    { organizationId: 'acme' },
  )
  await noteApplication(users, 'public', { authMethodType: OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE })
  await noteApplication(users, 'lax', { allowMissingPkce: true })
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

const granted = (code: string) => sealedIn(users, code).granted
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
    const authorization = granted(code!)
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
    expect(sealedIn(users, code!).nonce).toBe('n')
    // The page is shown once.
    expect(said(await browser.show(asking.requestId))).toBe('notice 5')
    const again = await browser.authorize()
    expect(again).toMatchObject({ answer: { $case: 'redirect' }, newBrowser: '' })
    expect(granted(told(again)['code']!).sessionId).toBe(authorization.sessionId)
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
    expect(granted(told(leaving)['code']!).redirectUri).toBe(native.redirectUri)
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
    expect(granted(told(leaving)['code']!).userId).toBe(ada)
    expect(await eventsOf(accounts[1]!.sessionId)).toEqual(['created', 'chosen'])
    // The one that the application used last.
    expect(granted(told(await browser.authorize({ clientId: 'first', prompt: 'none' }))['code']!).userId).toBe(ada)
    expect(told(await browser.authorize({ clientId: 'client', prompt: 'none' }))['error']).toBe(
      'account_selection_required',
    )
    const hint = `{"id_token":{"sub":{"value":"${ada}"}}}`
    expect(granted(told(await browser.authorize({ claims: hint, prompt: 'none' }))['code']!).userId).toBe(ada)
  })

  test('with a fresh password where that is asked for: the same session goes on', async () => {
    const browser = visitor()
    const first = granted(told(await browser.signIn(await browser.begin({ clientId: 'first' }), 'ada'))['code']!)
    for (const fresh of [{ prompt: 'login' }, { maxAge: '0' }]) {
      const page = await browser.begin({ clientId: 'first', ...fresh })
      expect(page.answer).toMatchObject({ $case: 'signIn', value: { loginName: 'ada', nameIsFixed: true } })
      const later = granted(told(await browser.signIn(page, 'ada'))['code']!)
      expect(later.sessionId).toBe(first.sessionId)
      expect(Date.parse(later.authTime)).toBeGreaterThan(Date.parse(first.authTime))
    }
    expect(await eventsOf(first.sessionId)).toEqual(['created', 'factor.checked', 'factor.checked'])
    expect(granted(told(await browser.authorize({ clientId: 'first', maxAge: '3600' }))['code']!).sessionId).toBe(
      first.sessionId,
    )
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
    expect(granted(code!)).toMatchObject({ organizationScope: 'acme' })
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
    const authorization = granted(told(await browser.decide(asking, 'allow'))['code']!)
    expect(authorization).toMatchObject({ userId: ada, organizationScope: 'acme' })
    expect(said(await browser.begin(named('acme')))).toBe('consent urn:zitadel:iam:org:id:acme')
  })

  test('refuses whom it does not let in, and the log has the cause', async () => {
    const written: string[] = []
    const log = createLog('users', 'info', { write: (line) => void written.push(line) })
    const browser = new Visitor({ ...users, log })
    const userId = await addPerson(users, 'ulla', 'umbrella')
    await browser.signIn(await browser.begin({ clientId: 'client' }), 'ulla')
    written.splice(0)
    const cause = async (refusedAt: string, asking: Promise<unknown>) => {
      await asking
      const lines = written.splice(0).map((text) => JSON.parse(text) as Record<string, unknown>)
      const { requestId } = callIn('')
      const told = { msg: 'a person was not let in', clientId: 'fixed', userId, reason: 'membership' }
      expect(lines).toMatchObject([{ level: 30, ...told, requestId, refusedAt }])
    }
    await cause('page', browser.begin(ofAcme))
    await cause('answer', browser.authorize({ ...ofAcme, prompt: 'none' }))
  })

  test('refuses a scope that names another one', async () => {
    for (const id of ['umbrella', '-'])
      expect(told(await new Visitor(users).authorize({ ...named(id), prompt: 'none' }))['error']).toBe('invalid_scope')
  })
})

test('an answer comes in the fragment where it is asked for so: at once, after a page, and after "cancel"', async () => {
  const browser = new Visitor(users)
  const asked = { clientId: 'first', responseMode: 'fragment' }
  const wayOf = ({ answer }: PageAnswer) => {
    const { location } = (answer as { value: { location: string } }).value
    return `${answer!.$case} ${location.replaceAll(/=[^&#]*/g, '')}`
  }
  const uri = `${redirectUri}#`
  const cancelling = await browser.begin(asked)
  await browser.post(cancelling, { action: 'cancel' })
  expect(wayOf(await browser.show(cancelling.requestId))).toBe(`notice ${uri}error&error_description&state&iss`)
  const leaving = await browser.signIn(await browser.begin(asked), 'ada')
  expect(wayOf(leaving)).toBe(`leaving ${uri}code&state&iss`)
  expect(told(leaving)).toMatchObject({ state: 'the state', iss: users.config.PUBLIC_URL })
  expect(wayOf(await browser.authorize({ ...asked, prompt: 'none' }))).toBe(`redirect ${uri}code&state&iss`)
  expect(wayOf(await browser.authorize({ ...asked, maxAge: 'x' }))).toBe(
    `redirect ${uri}error&error_description&state&iss`,
  )
  for (const own of ['http://127.0.0.1:51004/cb', 'com.example.app:/cb']) {
    const page = await browser.begin({ ...asked, clientId: 'native', redirectUri: own })
    expect(wayOf(await browser.decide(page, 'allow'))).toBe(`leaving ${own}#code&state&iss`)
  }
  // What was registered with a query keeps it.
  const queried = { ...asked, clientId: 'client', redirectUri: `${redirectUri}?a=b`, prompt: 'consent' }
  const allowed = await browser.decide(await browser.begin(queried), 'allow')
  expect(wayOf(allowed)).toBe(`leaving ${redirectUri}?a#code&state&iss`)
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

  const noChallenge = { codeChallenge: '', codeChallengeMethod: '' }
  // With the beginning of the description.
  const faults: [object, string, string?][] = [
    ...['scope', 'state', 'nonce', 'prompt', 'response_type', 'code_challenge', 'claims', 'unknown'].map(
      (name): [object, string, string] => [{ repeatedParameters: [name] }, 'invalid_request', `${name} must not come`],
    ),
    [{ repeatedParameters: ['Call 555!'] }, 'invalid_request', 'A parameter must not come'],
    [{ responseType: '' }, 'invalid_request', 'response_type must be code.'],
    [{ responseType: 'token' }, 'unsupported_response_type', 'response_type must be code.'],
    [{ responseMode: 'jwt' }, 'invalid_request', 'response_mode must be one of query, fragment, form_post.'],
    [{ request: 'x' }, 'request_not_supported', 'request must be left out'],
    [{ requestUri: 'x' }, 'request_uri_not_supported', 'request_uri must be left out'],
    [{ resource: 'https://api.example.com' }, 'invalid_target', 'resource must be left out'],
    [{ repeatedParameters: ['resource'] }, 'invalid_target', 'resource must be left out'],
    [{ repeatedParameters: ['resource', 'unknown'] }, 'invalid_request', 'unknown must not come'],
    [{ codeChallenge: '' }, 'invalid_request', 'code_challenge must be sent together with code_challenge_method.'],
    [noChallenge, 'invalid_request', 'code_challenge must be sent (PKCE), or a nonce'],
    [{ ...noChallenge, nonce: 'n', scope: 'profile' }, 'invalid_request', 'code_challenge must be sent (PKCE), or'],
    [{ ...noChallenge, clientId: 'public', nonce: 'n' }, 'invalid_request', 'code_challenge must be sent (PKCE), for'],
    [{ ...noChallenge, clientId: 'native', nonce: 'n', redirectUri: 'http://127.0.0.1:1/cb' }, 'invalid_request'],
    [
      { clientId: 'native', redirectUri: 'com.example.app:/cb', responseMode: 'form_post' },
      'invalid_request',
      'response_mode must be one of query, fragment.',
    ],
    [{ codeChallengeMethod: '' }, 'invalid_request', 'code_challenge_method must be S256.'],
    [{ codeChallengeMethod: 'plain' }, 'invalid_request', 'code_challenge_method must be S256.'],
    ...['lax', 'public', 'client'].map((clientId): [object, string, string] => [
      { clientId, codeChallengeMethod: 'plain', nonce: 'n' },
      'invalid_request',
      'code_challenge_method must be S256.',
    ]),
    [{ clientId: 'lax', codeChallenge: '', nonce: 'n' }, 'invalid_request', 'code_challenge must be sent together'],
    [{ codeChallenge: 'x' }, 'invalid_request', 'code_challenge must be SHA-256'],
    [{ maxAge: '-1' }, 'invalid_request', 'max_age must be a whole'],
    [{ maxAge: 'x' }, 'invalid_request', 'max_age must be a whole'],
    [{ nonce: 'x'.repeat(1025) }, 'invalid_request', 'nonce must have at most 1024'],
    [{ dpopJkt: 'x' }, 'invalid_request', 'dpop_jkt must be SHA-256'],
    [{ claims: '[]' }, 'invalid_request', 'claims must be a JSON object'],
    [
      { claims: '{"id_token":{"acr":{"essential":true,"value":"urn:other"}}}' },
      'unmet_authentication_requirements',
      'claims must ask for an acr',
    ],
    [{ idTokenHint: 'x' }, 'login_required', 'id_token_hint must be an ID token'],
    [{ scope: 'openid project:another' }, 'invalid_scope', 'scope must not name another project'],
    [{ scope: 'openid urn:zitadel:iam:org:project:id:zitadel:aud' }, 'invalid_scope', 'scope must not have urn:'],
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
  test.each(faults)('with %j is answered: %s', async (parameters, error, beginning = '') => {
    const answer = await new Visitor(users).authorize({ ...usual, ...parameters, prompt: 'none' })
    const { error_description, ...others } = told(answer)
    expect(others).toEqual({ error, state: 'the state', iss: users.config.PUBLIC_URL })
    expect(error_description!.startsWith(beginning)).toBe(true)
    // None of its words come from the request.
    expect(error_description).toMatch(/^(A parameter|[a-z_]+) m(ust|ay) [\x20\x21\x23-\x5b\x5d-\x7e]{5,150}\.$/)
  })

  test('no challenge is needed of an application that proves who it is, if it sends a nonce, or may leave out both', async () => {
    for (const asked of [
      { ...noChallenge, nonce: 'n' },
      { ...noChallenge, nonce: 'n', responseMode: 'fragment' },
      { ...noChallenge, clientId: 'lax' },
      { nonce: '' },
    ])
      expect(said(await new Visitor(users).begin(asked))).toBe('sign-in 0')
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
      ['another mode', objectOf({ response_mode: 'jwt', state: 'its own' }), 'redirect', 'its own'],
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

    test('of the two ways, that of the object, and nothing else of it', async () => {
      const request = objectOf({ response_mode: 'query', state: 'its own', redirect_uri: 'https://evil.example' })
      const { answer } = await new Visitor(users).authorize({ request, responseMode: 'form_post' })
      const { location, formPost } = (answer as { value: NoticePage }).value
      expect(formPost).toBeUndefined()
      expect(Object.fromEntries(new URL(location).searchParams)).toMatchObject({
        error: 'request_not_supported',
        state: 'its own',
      })
    })

    test('no other fault is answered by it, nor one of a login application by a form', async () => {
      const request = objectOf({ ...formPost, state: 'its own' })
      const other = await new Visitor(users).authorize({ request, responseType: '', prompt: 'none' })
      expect([other.answer?.$case, told(other)['state']]).toEqual(['redirect', 'the state'])
      const refused = await new Visitor(users).authorize({ clientId: 'elsewhere', request, prompt: 'none' })
      expect([refused.answer?.$case, told(refused)['state']]).toEqual(['redirect', 'its own'])
    })
  })

  describe('of a person who is not signed in', () => {
    const stored = async () => {
      const [{ count }] = await users.sql<[{ count: number }]>`select count(*)::int from authorization_requests`
      return count
    }
    const noticeOf = ({ answer }: PageAnswer) => (answer as { value: NoticePage }).value

    test.each([
      ['query', `${redirectUri}?`, 'client'],
      ['', `${redirectUri}?`, 'client'],
      ['jwt', `${redirectUri}?`, 'client'],
      ['fragment', `${redirectUri}#`, 'client'],
      ['', `${redirectUri}?`, 'elsewhere'],
      ['fragment', `${redirectUri}#`, 'elsewhere'],
      ['form_post', `${redirectUri}?`, 'elsewhere'],
      ['form_post', 'com.example.app:/cb?', 'native'],
      ['fragment', 'com.example.app:/cb#', 'native'],
    ])(
      'gets a page, and a link back by response mode %s: %s, of %s; nothing is stored',
      async (responseMode, beginning, clientId) => {
        const [browser, before] = [new Visitor(users), await stored()]
        const uri = beginning.slice(0, -1)
        const page = await browser.authorize({
          clientId,
          redirectUri: uri,
          responseType: 'token',
          responseMode,
          uiLocales: 'de',
        })
        expect(said(page)).toBe('notice 10')
        expect(page).toMatchObject({
          uiLocales: 'de',
          requestId: '',
          newBrowser: '',
          destination: { applicationName: `App ${clientId}`, host: hostOf(uri) },
        })
        const { location, formPost, mistake } = noticeOf(page)
        expect([formPost, mistake]).toEqual([
          undefined,
          { parameter: 'response_type', rule: ParameterRule.PARAMETER_RULE_ONE_OF, values: ['code'] },
        ])
        expect(location.startsWith(beginning)).toBe(true)
        expect(Object.fromEntries(new URLSearchParams(location.slice(beginning.length)))).toEqual({
          error: 'unsupported_response_type',
          error_description: 'response_type must be code.',
          state: 'the state',
          iss: users.config.PUBLIC_URL,
        })
        expect(await stored()).toBe(before)
      },
    )

    test('gets a button, where the answer is to be posted', async () => {
      const page = noticeOf(await new Visitor(users).authorize({ maxAge: 'x', responseMode: 'form_post' }))
      expect(page).toMatchObject({
        location: '',
        formPost: { action: redirectUri, parameters: { state: 'the state' } },
      })
    })

    test('is read again where it was stored, and the settings have changed since', async () => {
      const [browser, other] = [new Visitor(users), new Visitor(users)]
      await noteApplication(users, 'changing', { allowMissingPkce: true })
      const asked = { ...noChallenge, clientId: 'changing' }
      const page = await browser.begin(asked)
      await other.signIn(await other.begin({ clientId: 'client' }), 'ada')
      const kept = requestOf(await other.authorize({ ...asked, prompt: 'login' }))
      await noteApplication(users, 'changing')
      expect(said(await browser.show(page.requestId))).toBe('notice 10')
      expect(told(await other.show(kept))['error']).toBe('invalid_request')
      expect(said(await other.show(kept))).toBe('notice 5')
    })
  })

  test('of a person who is signed in goes back at once, but not from an application with pages of its own', async () => {
    const browser = new Visitor(users)
    await browser.signIn(await browser.begin({ clientId: 'client' }), 'ada')
    const faulty = { responseType: 'token', redirectUri: `${redirectUri}?a=b` }
    expect(told(await browser.authorize(faulty))).toMatchObject({ a: 'b', error: 'unsupported_response_type' })
    expect(said(await browser.authorize({ responseType: 'token', clientId: 'elsewhere' }))).toBe('notice 10')
  })

  test('is one line of the log, with the request id, and with nothing that was sent but a short client id', async () => {
    const written: string[] = []
    const log = createLog('users', 'info', { write: (line) => void written.push(line) })
    const logging = { ...users, log }
    const line = async (parameters: object) => {
      await new Visitor(logging).authorize({ ...parameters, state: 'secret' })
      const lines = written.splice(0).map((text) => JSON.parse(text) as Record<string, unknown>)
      expect(lines).toMatchObject([{ level: 30, msg: 'an authorization request was refused' }])
      const { level: _level, time: _time, service: _service, msg: _msg, requestId, ...rest } = lines[0]!
      expect(requestId).toBe(callIn('').requestId)
      return rest
    }
    const page = { refusedAt: 'page' }
    expect(await line({ clientId: `\u202enobody\n${'x'.repeat(16_000)}` })).toEqual({
      ...page,
      clientId: `\\u{202e}nobody\\u{a}${'x'.repeat(181)}…`,
      parameter: 'client_id',
      reason: 'client_id names no client that is there and active.',
    })
    expect(await line({ redirectUri: 'https://evil.example/secret' })).toEqual({
      ...page,
      clientId: 'client',
      parameter: 'redirect_uri',
      reason: 'redirect_uri is none that the application has registered.',
    })
    const faulty = {
      clientId: 'client',
      error: 'invalid_request',
      parameter: 'max_age',
      reason: 'max_age must be a whole number of seconds.',
    }
    expect(await line({ maxAge: 'secret' })).toEqual({ ...page, ...faulty })
    expect(await line({ maxAge: 'secret', prompt: 'none' })).toEqual({ ...faulty, refusedAt: 'answer' })
  })

  test('with another redirect URI gets a page that shows it, and a registered one that is much like it', async () => {
    const shown = async (uri: string) => {
      const { value } = (await new Visitor(users).authorize({ redirectUri: uri })).answer as { value: NoticePage }
      expect(value.clientId).toBe('client')
      return [value.redirectUri, value.nearestRedirectUri]
    }
    expect(await shown(`${redirectUri}/`)).toEqual([`${redirectUri}/`, redirectUri])
    expect(await shown('https://evil.example/\u202e <b>')).toEqual(['https://evil.example/\\u{202e}\\u{20}<b>', ''])
    const [long] = await shown(`https://evil.example/${'\n'.repeat(10_000)}`)
    expect(long).toHaveLength(501)
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
