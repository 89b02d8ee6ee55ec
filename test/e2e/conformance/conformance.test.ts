import { createHash, createPublicKey, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formOf } from '../../examples/sign-in.ts'
import { type Provider, startProvider } from './provider.ts'
import { type Client, openRelyingParty, type RelyingParty } from './relying-party.ts'

// What the conformance suite of the OpenID Foundation demands, a test for each module, with its name. Of the 38 modules of
// Basic OP these do not apply to clients that an administrator adds: oidcc-idtoken-signature, oidcc-idtoken-unsigned and
// oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported.

/** What UserInfo says by a scope. */
const scoped: Record<string, object> = {
  profile: {
    name: 'Ada L.',
    given_name: 'Ada',
    family_name: 'Lovelace',
    preferred_username: expect.any(String),
    gender: 'female',
    locale: 'en',
    updated_at: expect.any(Number),
  },
  email: { email: expect.stringContaining('@'), email_verified: true },
}

const unregistered = 'https://suite.example.com/test/a/roster/callback/unregistered'

let provider: Provider
beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider?.stop())

describe.each([
  { plan: 'Basic OP', responseMode: '' },
  { plan: 'Form Post OP', responseMode: 'form_post' },
])('$plan:', ({ responseMode }) => {
  let op: RelyingParty
  /** The first flow of the browser, in which the person signed in. */
  let first: Awaited<ReturnType<RelyingParty['authorize']>>
  beforeAll(async () => {
    op = await openRelyingParty(provider, responseMode)
    first = await op.authorize()
  })

  test('oidcc-server', () => {
    const { signedIn, tokens, code } = first
    expect(op.metadata.token_endpoint_auth_methods_supported).toContain('client_secret_basic')
    expect(signedIn).toBe(true)
    expect(tokens).not.toHaveProperty('refresh_token')
    // Its entropy by how often each letter comes.
    const bits = [...code].map((letter) => Math.log2(code.length / (code.split(letter).length - 1)))
    expect(bits.reduce((sum, each) => sum + each)).toBeGreaterThan(96)
  })

  test('oidcc-response-type-missing', async () => {
    const { answer } = await op.arrivalOf(op.request({ response_type: '' }))
    expect(['unsupported_response_type', 'invalid_request']).toContain(answer!['error'])
    expect(answer).not.toHaveProperty('code')
  })

  test.each([
    ['oidcc-userinfo-get', 'GET', 'header'],
    ['oidcc-userinfo-post-header', 'POST', 'header'],
    ['oidcc-userinfo-post-body', 'POST', 'body'],
  ])('%s', async (_, method, place) => {
    const token: string = first.tokens.access_token
    const inHeader = { headers: { authorization: `Bearer ${token}` } }
    const inBody = { body: new URLSearchParams({ access_token: token }) }
    const described = await op.describe(token, { method, ...(place === 'header' ? inHeader : inBody) })
    expect(described).toMatchObject({ status: 200, body: { sub: first.claims.sub } })
  })

  test('oidcc-ensure-request-without-nonce-succeeds-for-code-flow', async () => {
    expect((await op.authorize({ nonce: '' })).claims).not.toHaveProperty('nonce')
  })

  // The suite skips scopes that are not offered. Here they are left out, and the answer says so.
  test.each([
    ['oidcc-scope-profile', ['profile']],
    ['oidcc-scope-email', ['email']],
    ['oidcc-scope-address', ['address']],
    ['oidcc-scope-phone', ['phone']],
    ['oidcc-scope-all', ['email', 'phone', 'address', 'profile']],
  ])('%s', async (_, scopes) => {
    const { userInfo, tokens } = await op.authorize({ scope: ['openid', ...scopes].join(' ') })
    const { sub: _sub, organization: _organization, ...claims } = userInfo
    const given = scopes.filter((scope) => op.metadata.scopes_supported.includes(scope))
    expect(claims).toEqual(Object.assign({}, ...given.map((scope) => scoped[scope])))
    if (given.length < scopes.length) expect(tokens.scope).toBe(['openid', ...given].join(' '))
  })

  test('oidcc-alternate-happy-flow', async () => {
    const reversed = Object.entries(op.request({ scope: 'email openid' })).toReversed()
    expect((await op.authorize(Object.fromEntries(reversed))).userInfo).toMatchObject(scoped['email']!)
  })

  test.each([
    ['oidcc-display-page', { display: 'page' }, {}],
    ['oidcc-display-popup', { display: 'popup' }, {}],
    ['oidcc-login-hint', { login_hint: 'buffy@example.com' }, { loginName: 'buffy@example.com' }],
    ['oidcc-ui-locales', { ui_locales: 'se de' }, { language: 'de' }],
  ])('%s', async (_, more, shown) => {
    const { signedIn, page } = await op.authorize(more, { browser: op.newBrowser() })
    expect(signedIn).toBe(true)
    const name = formOf(page)!.inputs.find(({ autocomplete }) => autocomplete === 'username')
    const [, language] = /<html lang="(\w+)"/.exec(page)!
    expect({ loginName: name!['value'], language }).toMatchObject(shown)
  })

  test.each([
    ['oidcc-prompt-login', 1, { prompt: 'login' }],
    ['oidcc-max-age-1', 2, { max_age: '1' }],
  ])('%s', async (_, seconds, more) => {
    const before = await op.authorize()
    await provider.wait(seconds)
    const { signedIn, claims } = await op.authorize(more)
    expect(signedIn).toBe(true)
    expect(claims['auth_time']).toBeGreaterThan(before.claims['auth_time'] as number)
  })

  test.each([
    ['oidcc-prompt-none-logged-in', {}, () => ({ prompt: 'none' })],
    ['oidcc-max-age-10000', { max_age: '15000' }, () => ({ max_age: '10000' })],
    ['oidcc-id-token-hint', {}, (id_token_hint: string) => ({ prompt: 'none', id_token_hint })],
  ])('%s', async (_, more, then) => {
    const before = await op.authorize(more)
    await provider.wait(1)
    const { signedIn, claims } = await op.authorize(then(before.tokens.id_token))
    expect(signedIn).toBe(false)
    const { sub, auth_time } = before.claims
    expect(claims).toMatchObject({ sub, auth_time: expect.any(Number) })
    expect(claims['auth_time']).toBe(auth_time)
  })

  test('oidcc-prompt-none-not-logged-in', async () => {
    const asked = op.request({ prompt: 'none', state: 's'.repeat(128) })
    const { answer, last, ...before } = await op.arrivalOf(asked, op.newBrowser())
    expect(answer).not.toHaveProperty('code')
    const errors = ['login_required', 'interaction_required', 'consent_required', 'account_selection_required']
    expect(errors).toContain(answer!['error'])
    expect(last).toBe(before.first)
  })

  test.each([
    ['oidcc-ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }],
    ['oidcc-claims-locales', { claims_locales: 'se' }],
  ])('%s', async (_, more) => {
    await op.authorize(more)
  })

  test('oidcc-ensure-request-with-acr-values-succeeds', async () => {
    const { acr_values_supported: values } = op.metadata
    const { claims } = await op.authorize({ acr_values: values.join(' ') })
    expect(values).toContain(claims['acr'])
  })

  test.each([
    ['oidcc-codereuse', 0],
    ['oidcc-codereuse-30seconds', 30],
  ])('%s', async (_, seconds) => {
    const { code, tokens } = await op.authorize()
    await provider.wait(seconds)
    const { status, headers, body } = await op.redeem(code)
    expect([status, body.error]).toEqual([400, 'invalid_grant'])
    expect(headers.get('content-type')).toMatch(/^application\/json\b/)
    expect((await op.describe(tokens.access_token)).status).toBe(401)
  })

  test('oidcc-ensure-registered-redirect-uri', async () => {
    const { answer, last } = await op.arrivalOf(op.request({ redirect_uri: unregistered }))
    expect({ answer, status: last.status }).toEqual({ answer: undefined, status: 400 })
    expect(last.body).toContain(`<bdi>${unregistered}</bdi>`)
  })

  test('oidcc-ensure-post-request-succeeds', async () => {
    expect((await op.authorize({}, { method: 'POST' })).signedIn).toBe(false)
  })

  test('oidcc-server-client-secret-post', async () => {
    expect(op.metadata.token_endpoint_auth_methods_supported).toContain('client_secret_post')
    await op.authorize({}, { client: provider.clients[2]! })
  })

  test('oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported', async () => {
    expect(op.metadata.request_parameter_supported).toBe(false)
    // The suite's browser has nobody signed in, and follows the link of the page.
    for (const browser of [op.newBrowser(), op.browser]) {
      const asked = op.request()
      const { answer, method } = await browser.go(op.metadata.authorization_endpoint, inObject(asked))
      expect(answer).toMatchObject({ error: 'request_not_supported', state: asked['state'] })
      expect(method).toBe(responseMode === '' ? 'GET' : 'POST')
    }
  })

  test('oidcc-ensure-request-object-with-redirect-uri', async () => {
    const asked = { ...inObject(op.request()), redirect_uri: unregistered }
    const { answer, last } = await op.browser.go(op.metadata.authorization_endpoint, asked)
    expect({ answer, status: last.status }).toEqual({ answer: undefined, status: 400 })
  })

  test('oidcc-claims-essential', async () => {
    const claims = JSON.stringify({ userinfo: { name: { essential: true } } })
    expect((await op.authorize({ claims })).userInfo).toMatchObject({ name: 'Ada L.' })
  })

  test('oidcc-refresh-token', async () => {
    const [client, client2] = provider.clients as [Client, Client]
    expect(op.metadata).toMatchObject({
      scopes_supported: expect.arrayContaining(['offline_access']),
      grant_types_supported: expect.arrayContaining(['refresh_token']),
    })
    const scope = 'openid offline_access'
    const asked = { scope, prompt: 'consent' }
    const before = await op.authorize(asked)
    await provider.wait(1)
    const refreshed = await op.refresh(before.tokens.refresh_token, client, { scope })
    const { tokens, claims } = await op.redeemed(refreshed, client)
    const { iss, sub, aud, auth_time, iat } = before.claims
    expect(claims).toMatchObject({ iss, sub, aud, auth_time })
    expect(claims.iat).toBeGreaterThan(iat!)
    expect(tokens.access_token).not.toBe(before.tokens.access_token)
    expect(tokens.refresh_token).toMatch(/^[\x20-\x7e]{16,}$/)
    expect((await op.describe(tokens.access_token)).status).toBe(200)
    const { refresh_token } = (await op.authorize(asked, { client: client2 })).tokens
    expect(await op.refresh(refresh_token, client)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    await op.redeemed(await op.refresh(refresh_token, client2), client2)
  })

  test('oidcc-ensure-request-with-valid-pkce-succeeds', async () => {
    const verifier = randomBytes(32).toString('base64url')
    const code_challenge = createHash('sha256').update(verifier).digest('base64url')
    await op.authorize({ code_challenge, code_challenge_method: 'S256' }, { verifier })
  })
})

test('Config OP: oidcc-discovery-endpoint-verification', async () => {
  const { issuer } = provider
  const answer = await fetch(`${issuer}/.well-known/openid-configuration`)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/)
  const metadata = (await answer.json()) as Record<string, any>
  expect(metadata).toMatchObject({
    issuer,
    response_types_supported: expect.arrayContaining(['code']),
    subject_types_supported: expect.arrayContaining(['public']),
    id_token_signing_alg_values_supported: expect.arrayContaining(['RS256']),
    grant_types_supported: expect.arrayContaining(['authorization_code']),
    scopes_supported: expect.arrayContaining(['openid']),
    claims_supported: expect.arrayContaining(['sub']),
    code_challenge_methods_supported: ['S256'],
    // Where they are missing they mean true, or false.
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    claims_parameter_supported: true,
  })
  const lists = Object.entries(metadata).filter(([, value]) => Array.isArray(value))
  for (const [name, values] of lists) expect([name, new Set(values).size]).toEqual([name, values.length || -1])
  for (const scope of metadata['scopes_supported']) expect(scope).toMatch(/^[\x21\x23-\x5b\x5d-\x7e]+$/)
  expect(Intl.getCanonicalLocales(metadata['ui_locales_supported'])).toEqual(metadata['ui_locales_supported'])
  const places = Object.entries(metadata).filter(([name]) => /_endpoint$|_uri$/.test(name))
  expect(places.map(([name]) => name)).toEqual(
    expect.arrayContaining(['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri']),
  )
  for (const [, place] of places) expect(place).toMatch(/^https:\/\/[^#]+$/)
  const { keys } = (await (await fetch(metadata['jwks_uri'])).json()) as { keys: Record<string, string>[] }
  expect(new Set(keys.map(({ kid }) => kid)).size).toBe(keys.length)
  for (const key of keys) {
    expect(key).toMatchObject({ kty: expect.any(String), kid: expect.stringMatching(/./), use: 'sig' })
    expect(key).not.toHaveProperty('d')
    createPublicKey({ key, format: 'jwk' })
  }
})

/** The same request with an unsigned object, and outside of it what OAuth demands there. */
function inObject(all: Record<string, string>) {
  const parts = [{ alg: 'none' }, all].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  const { client_id = '', scope = '', response_type = '', redirect_uri = '' } = all
  return { client_id, scope, response_type, redirect_uri, request: `${parts.join('.')}.` }
}
