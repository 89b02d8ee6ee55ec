import type { ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { type IDPCheck, IDPCheckKind, IDPCheckResult } from '#gen/roster/idp/v1/idp_check'
import { destinations } from '#lib/outbound/destinations'
import { guardedFetch } from '#lib/outbound/guarded-fetch'
import { example } from '../testing/example.ts'
import {
  type Answers,
  redirectUri,
  soundAnswers,
  startHostileProvider,
  startOidcProvider,
  type Upstream,
} from '#test/support/upstreams/upstreams'
import type { Configurations } from '../vocabulary.ts'
import type { Upstream as Asked } from './protocol.ts'
import { protocolWorks } from './registry.ts'

const started: Upstream[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((upstream) => upstream.stop()))
})

function kept(upstream: Upstream): Upstream {
  started.push(upstream)
  return upstream
}

function askedOf<P extends 'oidc' | 'oauth' | 'jwt'>(
  configuration: Configurations[P],
  more: Partial<Asked<P>> = {},
  { named = '127.0.0.1', within = 5000 } = {},
): Asked<P> {
  const fetch = guardedFetch(destinations.read(named), { within, mostBody: 256 * 1024 })
  return { configuration, secret: { secret: 'a secret' }, redirectUri, fetch, clockAhead: 0, ...more }
}

/** `CLOCK` of IDP_CHECK_KIND_CLOCK. */
function nameOf(names: Record<string, number>, value: number): string {
  return Object.keys(names)
    .find((name) => names[name] === value)!
    .replace(/^IDP_CHECK_(KIND|RESULT)_/, '')
}

/** Each check by its kind: its result, and the problem where it has one. */
function shown(checks: IDPCheck[]): Record<string, string> {
  return Object.fromEntries(
    checks.map(({ kind, result, problem }) => [
      nameOf(IDPCheckKind, kind),
      [nameOf(IDPCheckResult, result), problem].filter((text) => text !== '').join(': '),
    ]),
  )
}

const oidcOf = (issuer: string): Configurations['oidc'] => ({ clientId: 'roster', issuer, scopes: [] })
const others = ['CLOCK', 'ENDPOINTS', 'KEYS', 'CLIENT', 'REDIRECT_URI', 'CLAIMS'] as const
const allPassed = Object.fromEntries(['DISCOVERY', ...others].map((kind) => [kind, 'PASSED']))

describe('a provider of OpenID Connect', () => {
  test('that lacks nothing passes, as oidc-provider does', async () => {
    const { url } = kept(await startOidcProvider({ secret: 'a secret', redirectUri }))
    const checks = await protocolWorks.oidc.test(askedOf(oidcOf(url)))
    expect(shown(checks)).toEqual({ ...allPassed, SIGN_IN: 'PASSED' })
    expect(checks.find(({ kind }) => kind === IDPCheckKind.IDP_CHECK_KIND_DISCOVERY)!.url).toBe(
      `${url}/.well-known/openid-configuration`,
    )
  })

  test('that knows another secret, or another redirect URI, says so', async () => {
    const { url } = kept(await startOidcProvider({ secret: 'a secret', redirectUri }))
    const wrong = { secret: { secret: 'another' }, redirectUri: `${redirectUri}/` }
    const checks = shown(await protocolWorks.oidc.test(askedOf(oidcOf(url), wrong)))
    expect(checks).toMatchObject({
      ...allPassed,
      CLIENT: 'FAULTY: It knows no client with this id and this secret (invalid_client).',
      REDIRECT_URI: expect.stringMatching(/^FAULTY: It refuses the request \(400\): register/),
    })
  })

  test('gets a client secret as it is where it can: some do not decode the header', async () => {
    const both = ['client_secret_basic', 'client_secret_post']
    const sentTo = async (secret: string, methods: string[]) => {
      const sent: string[] = []
      const token = async (response: ServerResponse) => {
        const form = new URLSearchParams(await text(response.req))
        const [, header = ''] = (response.req.headers.authorization ?? '').split(' ')
        sent.push(form.get('client_secret') ?? Buffer.from(header, 'base64').toString())
        response.writeHead(400).end('{"error":"invalid_grant"}')
      }
      const described = of({ token_endpoint_auth_methods_supported: methods })
      const { url } = kept(await startHostileProvider({ ...soundAnswers, ...described, '/token': token }))
      const checks = shown(await protocolWorks.oidc.test(askedOf(oidcOf(url), { secret: { secret } })))
      expect(checks['CLIENT']).toBe('PASSED')
      return sent
    }
    expect(await sentTo('a-b_c.d~e', both)).toEqual(['roster:a-b_c.d~e'])
    expect(await sentTo('a b+c', both)).toEqual(['a b+c'])
    expect(await sentTo('a b+c', ['client_secret_basic'])).toEqual(['roster:a+b%2Bc'])
  })

  const description = soundAnswers['/.well-known/openid-configuration'] as object
  const of = (part: object): Answers => ({ '/.well-known/openid-configuration': { ...description, ...part } })
  const raw = (status: number, headers: Record<string, string>, body = ''): Answers => ({
    '/.well-known/openid-configuration': (response) => response.writeHead(status, headers).end(body),
  })

  test.each<[string, Answers, string]>([
    ['names another issuer', of({ issuer: 'https://evil.example' }), 'It names the issuer https://evil.example: store'],
    ['names no issuer', of({ issuer: undefined }), 'It names no issuer.'],
    ['redirects', raw(302, { location: 'http://169.254.169.254/' }), 'It redirects to http://169.254.169.254/, and'],
    ['has no description', raw(404, {}), 'It answers with the status 404.'],
    ['answers with a page', raw(200, {}, '<html>'), 'It answers with something else than an object in JSON.'],
    ['answers without end', raw(200, {}, ' '.repeat(300_000)), 'It does not answer: the answer is too large.'],
  ])('that %s is faulty, and nothing else of it is looked at', async (_, answers, problem) => {
    const { url } = kept(await startHostileProvider({ ...soundAnswers, ...answers }))
    const { DISCOVERY, SIGN_IN: _SIGN_IN, ...rest } = shown(await protocolWorks.oidc.test(askedOf(oidcOf(url))))
    expect(DISCOVERY).toMatch(`FAULTY: ${problem}`)
    expect(Object.keys(rest)).toEqual(others)
    for (const each of Object.values(rest)) expect(each).toMatch(/^NOT_CHECKED: /)
  })

  test('that is silent is faulty once its time is over', async () => {
    const silent: Answers = { '/.well-known/openid-configuration': () => {} }
    const { url } = kept(await startHostileProvider(silent))
    const { DISCOVERY } = shown(await protocolWorks.oidc.test(askedOf(oidcOf(url), {}, { within: 50 })))
    expect(DISCOVERY).toBe('FAULTY: It does not answer: timeout.')
  })

  test('at an address that the operator does not allow is not asked, whatever is there', async () => {
    const { url } = kept(await startHostileProvider(soundAnswers))
    const { DISCOVERY } = shown(await protocolWorks.oidc.test(askedOf(oidcOf(url), {}, { named: '10.0.0.0/8' })))
    expect(DISCOVERY).toBe('FAULTY: It does not answer: no address that may be sent to.')
  })

  const missing = (...names: string[]) => of(Object.fromEntries(names.map((name) => [name, undefined])))
  const said = (path: string, status: number, body: string): Answers => ({
    [path]: (response) => response.writeHead(status).end(body),
  })

  test.each<[string, Answers, Record<string, string>]>([
    [
      'without a token endpoint',
      missing('token_endpoint'),
      { ENDPOINTS: 'FAULTY: It names no address with TLS for token_endpoint', CLIENT: 'NOT_CHECKED' },
    ],
    [
      'that has keys elsewhere without TLS',
      of({ jwks_uri: 'http://i.example/' }),
      { ENDPOINTS: 'FAULTY.*jwks_uri', KEYS: 'NOT_CHECKED' },
    ],
    [
      'that says nothing in the right type',
      of(Object.fromEntries(Object.keys(description).map((name) => [name, name === 'issuer' ? '{url}' : 5]))),
      {
        ENDPOINTS: 'FAULTY: It names no address.*authorization_endpoint, token_endpoint, jwks_uri',
        KEYS: 'NOT_CHECKED',
        CLIENT: 'NOT_CHECKED',
        REDIRECT_URI: 'NOT_CHECKED',
      },
    ],
    ['that gives no codes', of({ response_types_supported: ['id_token'] }), { ENDPOINTS: 'FAULTY: It gives no codes' }],
    [
      'that signs by a shared secret',
      of({ id_token_signing_alg_values_supported: ['HS256'] }),
      { ENDPOINTS: 'FAULTY' },
    ],
    ['that signs nothing', of({ id_token_signing_alg_values_supported: ['none'] }), { ENDPOINTS: 'FAULTY' }],
    ['that does not speak of PKCE', missing('code_challenge_methods_supported'), { ENDPOINTS: 'DOUBTFUL' }],
    ['without keys', { '/keys': { keys: [] } }, { KEYS: 'FAULTY: It has no public key for signatures.' }],
    ['with a key for encryption alone', { '/keys': { keys: [{ kty: 'RSA', use: 'enc' }] } }, { KEYS: 'FAULTY' }],
    ['with a shared key', { '/keys': { keys: [{ kty: 'oct', k: 'a' }] } }, { KEYS: 'FAULTY' }],
    [
      'that wants a signature',
      of({ token_endpoint_auth_methods_supported: ['private_key_jwt'] }),
      { CLIENT: 'FAULTY' },
    ],
    ['that gives this client no codes', said('/token', 400, '{"error":"unauthorized_client"}'), { CLIENT: 'FAULTY' }],
    ['that looks at the code first', said('/token', 400, '{"error":"invalid_request"}'), { CLIENT: 'NOT_CHECKED' }],
    ['whose token endpoint is a page', said('/token', 200, '<html>'), { CLIENT: 'DOUBTFUL' }],
    ['that shows a page', said('/authorize', 200, '<html>'), { REDIRECT_URI: 'NOT_CHECKED: It answers with a page' }],
    [
      'that sends browsers elsewhere',
      {
        '/authorize': (response) =>
          response.writeHead(302, { location: `${redirectUri}/b?error=login_required` }).end(),
      },
      { REDIRECT_URI: 'NOT_CHECKED: It answers with a page' },
    ],
    ['without the scope', of({ scopes_supported: ['openid'] }), { CLAIMS: 'DOUBTFUL.*scopes: profile email' }],
    [
      'without the claim',
      of({ claims_supported: ['sub', 'email', 'given_name'] }),
      { CLAIMS: 'DOUBTFUL.*claims email_verified and family_name' },
    ],
  ])('%s is found out, and what else there is passes', async (_, answers, expected) => {
    const { url } = kept(await startHostileProvider({ ...soundAnswers, ...answers }))
    const { SIGN_IN: _SIGN_IN, ...checks } = shown(await protocolWorks.oidc.test(askedOf(oidcOf(url))))
    for (const [kind, problem] of Object.entries(expected)) expect(checks[kind]).toMatch(new RegExp(`^${problem}`))
    const rest = Object.entries(checks).filter(([kind, result]) => result !== 'PASSED' && !(kind in expected))
    expect(rest).toEqual([])
  })

  test('whose clock is not that of the database says by how much', async () => {
    const { url } = kept(await startHostileProvider(soundAnswers))
    const { CLOCK, ...rest } = shown(await protocolWorks.oidc.test(askedOf(oidcOf(url), { clockAhead: 125_000 })))
    expect(CLOCK).toMatch(/^FAULTY: Its clock is 12\d seconds behind Roster's/)
    expect(rest).toMatchObject({ DISCOVERY: 'PASSED', KEYS: 'PASSED' })
  })

  test('gets no secret that was given for another, or that nobody can open', async () => {
    const asked: string[] = []
    const token = soundAnswers['/token'] as (response: never) => void
    const { url } = kept(
      await startHostileProvider({
        ...soundAnswers,
        '/token': (response) => (asked.push('token'), token(response as never)),
      }),
    )
    const { CLIENT } = shown(await protocolWorks.oidc.test(askedOf(oidcOf(url), { secret: { fault: 'Set it anew.' } })))
    expect([CLIENT, asked]).toEqual(['FAULTY: Set it anew.', []])
  })
})

describe('a provider of OAuth 2.0', () => {
  const oauthOf = (url: string): Configurations['oauth'] => ({
    ...example.oauth,
    authorizationEndpoint: `${url}/authorize`,
    tokenEndpoint: `${url}/token`,
    userEndpoint: `${url}/user`,
  })

  test('that lacks nothing passes', async () => {
    const { url } = kept(await startHostileProvider(soundAnswers))
    const { SIGN_IN: _SIGN_IN, ...checks } = shown(await protocolWorks.oauth.test(askedOf(oauthOf(url))))
    expect(checks).toEqual({ ENDPOINTS: 'PASSED', CLIENT: 'PASSED', REDIRECT_URI: 'PASSED' })
  })

  test('whose endpoints are elsewhere says which', async () => {
    const { url } = kept(await startHostileProvider({}))
    expect(shown(await protocolWorks.oauth.test(askedOf(oauthOf(url))))).toMatchObject({
      ENDPOINTS: 'FAULTY: It answers with the status 404: the address of users is wrong.',
      CLIENT: 'FAULTY: It answers with the status 404: the address is wrong.',
      REDIRECT_URI: expect.stringMatching('^FAULTY'),
    })
  })
})

describe('a provider of JSON Web Tokens', () => {
  const jwtOf = (url: string): Configurations['jwt'] => ({
    ...example.jwt,
    keysEndpoint: `${url}/keys`,
    audience: 'roster',
  })

  test('passes by its keys and its clock', async () => {
    const { url } = kept(await startHostileProvider(soundAnswers))
    const { SIGN_IN: _SIGN_IN, ...checks } = shown(await protocolWorks.jwt.test(askedOf(jwtOf(url))))
    expect(checks).toEqual({
      CLOCK: 'PASSED',
      KEYS: 'PASSED',
      CLAIMS: 'NOT_CHECKED: A token needs the aud roster, sub, iat, and an exp within 300 seconds of it.',
    })
  })

  test('whose keys cannot be read says why', async () => {
    const { url } = kept(await startHostileProvider({}))
    const { KEYS } = shown(await protocolWorks.jwt.test(askedOf(jwtOf(url))))
    expect(KEYS).toBe('FAULTY: It answers with the status 404.')
  })
})

test.each(['saml', 'ldap'] as const)('a provider by %s is told to sign nobody in yet', async (protocol) => {
  const checks = shown(await protocolWorks[protocol].test({} as never))
  expect(checks).toEqual({
    SIGN_IN: expect.stringMatching(`^FAULTY: Roster does not speak ${protocol.toUpperCase()} yet`),
  })
})
