import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { IDPCheckKind, IDPCheckResult } from '#gen/roster/idp/v1/idp_check'
import { IDPPreset } from '#gen/roster/idp/v1/idp_config'
import { destinations } from '#lib/outbound/destinations'
import { guardedFetch } from '#lib/outbound/guarded-fetch'
import {
  type Answers,
  redirectUri,
  soundAnswers,
  startHostileProvider,
  type Upstream,
} from '#test/support/upstreams/upstreams'
import { newBegun } from '../oidc/begin.ts'
import { type Upstream as Asked, UpstreamError } from '../protocol.ts'
import { oauth } from './oauth.ts'

const started: Upstream[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((upstream) => upstream.stop()))
})

interface Asks {
  headers: IncomingHttpHeaders
  body: URLSearchParams
}

interface Lie {
  token?: object
  user?: object | string
  answers?: Answers
  /** How it takes the secret. */
  takes?: 'header' | 'form'
}

const ada = {
  id: 583231,
  login: 'ada',
  email: 'ada@example.com',
  email_verified: true,
  name: 'Ada Lovelace',
  locale: 5,
}
const basic = `Basic ${Buffer.from('roster:a+secret').toString('base64')}`

/** A provider that signs Ada in, but for what it lies about. `asked`: what came to its token endpoint. */
async function startProvider({ token, user = ada, answers, takes = 'header' }: Lie = {}) {
  const asked: Asks[] = []
  const json = (body: object | string) => (typeof body === 'string' ? body : JSON.stringify(body))
  const upstream = await startHostileProvider({
    ...soundAnswers,
    '/token': (response) => {
      const { headers } = response.req
      void text(response.req).then((sent) => {
        const body = new URLSearchParams(sent)
        asked.push({ headers, body })
        const isRight = takes === 'form' ? body.get('client_secret') === 'a secret' : headers.authorization === basic
        // As GitHub has it: an error with the status 200.
        if (!isRight) response.end('{"error":"incorrect_client_credentials"}')
        else if (body.get('code') !== 'a code') response.end('{"error":"bad_verification_code"}')
        else response.end(json(token ?? { access_token: 'access', token_type: 'bearer', id_token: 'no matter' }))
      })
    },
    '/user': (response) => {
      const isFit = response.req.headers.authorization === 'Bearer access' && response.req.headers['user-agent']
      if (!isFit) response.writeHead(401)
      response.end(isFit ? json(user) : '')
    },
    ...answers,
  })
  started.push(upstream)
  return { url: upstream.url, asked }
}

function askedOf(url: string, more: Partial<Asked<'oauth'>> = {}): Asked<'oauth'> {
  const fetch = guardedFetch(destinations.read('127.0.0.1'), { within: 5000, mostBody: 256 * 1024 })
  const configuration = {
    clientId: 'roster',
    authorizationEndpoint: `${url}/authorize?tenant=one`,
    tokenEndpoint: `${url}/token`,
    userEndpoint: `${url}/user`,
    scopes: ['read:user', 'user:email'],
    idAttribute: 'id',
  }
  return { configuration, secret: { secret: 'a secret' }, redirectUri, fetch, clockAhead: 0, ...more }
}

const answer = (state: string, more: Record<string, string> = {}) =>
  new URLSearchParams({ code: 'a code', state, ...more })

test('a sign-in proves who the address of users names, by PKCE and state of its own', async () => {
  const begun = newBegun()
  const { url, asked } = await startProvider()
  const upstream = askedOf(url)
  const to = await oauth.begin(upstream, begun, {})
  expect(`${to.origin}${to.pathname}`).toBe(`${url}/authorize`)
  expect(Object.fromEntries(to.searchParams)).toEqual({
    tenant: 'one',
    response_type: 'code',
    client_id: 'roster',
    redirect_uri: redirectUri,
    scope: 'read:user user:email',
    state: begun.state,
    code_challenge: createHash('sha256').update(begun.codeVerifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  // The number, not the name, which may be another person's tomorrow. And nobody's time of a sign-in.
  expect(await oauth.callback(upstream, begun, {}, answer(begun.state))).toEqual({
    issuer: `${url}/user#id`,
    subject: '583231',
    authTime: undefined,
    tokens: { accessToken: 'access' },
    claims: { email: 'ada@example.com', emailVerified: true, name: 'Ada Lovelace' },
    said: expect.objectContaining({ id: 583_231 }),
  })
  expect(asked.map(({ body }) => Object.fromEntries(body))).toEqual([
    { code: 'a code', grant_type: 'authorization_code', redirect_uri: redirectUri, code_verifier: begun.codeVerifier },
  ])
})

test('a provider that takes the secret in the form alone gets it there, and passes the test', async () => {
  const begun = newBegun()
  const { url, asked } = await startProvider({ takes: 'form' })
  expect(await oauth.callback(askedOf(url), begun, {}, answer(begun.state))).toMatchObject({ subject: '583231' })
  expect(asked.map(({ headers, body }) => [headers.authorization, body.get('client_secret')])).toEqual([
    [basic, null],
    [undefined, 'a secret'],
  ])
  const checks = await oauth.test(askedOf(url))
  const client = checks.find(({ kind }) => kind === IDPCheckKind.IDP_CHECK_KIND_CLIENT)!
  expect(client.result).toBe(IDPCheckResult.IDP_CHECK_RESULT_PASSED)
})

test('another address of users, and another attribute, is the word of somebody else', async () => {
  const begun = newBegun()
  const { url } = await startProvider({ user: { id: 5, login: '5' } })
  const { configuration } = askedOf(url)
  const issuers = await Promise.all(
    [configuration, { ...configuration, idAttribute: 'login' }].map(async (each) => {
      const upstream = askedOf(url, { configuration: each })
      return (await oauth.callback(upstream, begun, {}, answer(begun.state))).issuer
    }),
  )
  expect(issuers).toEqual([`${url}/user#id`, `${url}/user#login`])
})

describe('GitHub', () => {
  const primary = { email: 'ada@work.example', primary: true, verified: true }
  const list = [{ email: 'ada@example.com', primary: false, verified: true }, null, primary]

  async function claimsBy(emails: Answers[string], scopes: string[] = []) {
    const begun = newBegun()
    const { url } = await startProvider({ answers: { '/user/emails': emails } })
    const { configuration } = askedOf(url)
    const preset = IDPPreset.IDP_PRESET_GITHUB
    const upstream = askedOf(url, { configuration: { ...configuration, scopes, preset } })
    const to = await oauth.begin(upstream, begun, {})
    const { claims } = await oauth.callback(upstream, begun, {}, answer(begun.state))
    const checks = await oauth.test(upstream)
    const check = checks.find(({ kind }) => kind === IDPCheckKind.IDP_CHECK_KIND_CLAIMS)!
    return { scope: to.searchParams.get('scope'), claims, problem: check.problem }
  }
  const person = { name: 'Ada Lovelace', preferredUsername: 'ada' }

  test('says the primary address, and not the one that the person shows', async () => {
    const { scope, claims, problem } = await claimsBy((response) => {
      const isAda = response.req.headers.authorization === 'Bearer access'
      response.end(JSON.stringify(isAda ? list : []))
    })
    expect(scope).toBe('read:user user:email')
    expect(claims).toEqual({ ...person, email: 'ada@work.example', emailVerified: true })
    expect(problem).toBe('')
  })

  test('says that it did not verify the address', async () => {
    const { claims } = await claimsBy([{ ...primary, verified: false }])
    expect(claims).toEqual({ ...person, email: 'ada@work.example' })
  })

  test.each<[string, Answers[string]]>([
    ['refuses', (response) => response.writeHead(404).end(JSON.stringify(list))],
    ['answers with a page', (response) => response.end('<html>')],
    ['answers with an object', { email: 'ada@work.example', primary: true, verified: true }],
    ['has none that is the primary one', [{ ...primary, primary: 'true' }]],
  ])('says no address where its list %s', async (_, emails) => {
    expect((await claimsBy(emails)).claims).toEqual(person)
  })

  test('says in a test that a scope is missing', async () => {
    const { scope, problem } = await claimsBy([], ['read:user'])
    expect(scope).toBe('read:user')
    expect(problem).toMatch(/^Without the scope user:email, it gives no address/)
  })
})

async function faultOfSignIn(
  lie: Lie,
  more: {
    answer?: Record<string, string> | ((state: string) => URLSearchParams)
    asked?: Partial<Asked<'oauth'>>
  } = {},
) {
  const begun = newBegun()
  const { url, asked } = await startProvider(lie)
  const sent = typeof more.answer === 'function' ? more.answer(begun.state) : answer(begun.state, more.answer)
  const error: unknown = await oauth.callback(askedOf(url, more.asked), begun, {}, sent).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(UpstreamError)
  return { fault: (error as UpstreamError).fault, tokensAsked: asked.length }
}

describe('an answer proves nobody', () => {
  const bearer = { access_token: 'access', token_type: 'Bearer' }
  test.each<[string, Lie]>([
    ['without an id', { user: { ...ada, id: undefined } }],
    ['whose id is a word of every object', { user: '{"constructor":{}}' }],
    ['with an empty id', { user: { ...ada, id: '' } }],
    ['with the id of nobody', { user: { ...ada, id: 0 } }],
    ['with a yes in place of the id', { user: { ...ada, id: true } }],
    ['whose number is read with a loss', { user: '{"id":9007199254740993}' }],
    ['with a part of a number', { user: { ...ada, id: 1.5 } }],
    ['with an id that no text of PostgreSQL has', { user: { ...ada, id: 'ada\0' } }],
    ['with an id that is too long', { user: { ...ada, id: 'a'.repeat(256) } }],
    ['that is a list', { user: [ada] }],
    ['that is a page', { user: '<html>' }],
    ['with a token of another type', { token: { ...bearer, token_type: 'mac' } }],
    ['without a type of the token', { token: { access_token: 'access' } }],
    ['without a token', { token: { token_type: 'bearer' } }],
    ['with a token that is two headers', { token: { ...bearer, access_token: 'access\r\nx: y' } }],
    ['with an error beside the token', { token: { ...bearer, error: 'access_denied' } }],
    ['with a token that it refuses', { token: { ...bearer, access_token: 'another' } }],
  ])('%s', async (_, lie) => {
    expect((await faultOfSignIn(lie)).fault).toBe('not-believed')
  })

  test('of a code that the provider does not know, which is sent once', async () => {
    expect(await faultOfSignIn({}, { answer: { code: 'another' } })).toEqual({ fault: 'not-believed', tokensAsked: 1 })
  })

  test.each<[string, Record<string, string> | ((state: string) => URLSearchParams), string]>([
    ['with another state', { state: 'another' }, 'not-asked-for'],
    ['without a state', () => new URLSearchParams({ code: 'a code' }), 'not-asked-for'],
    ['with two codes', (state) => new URLSearchParams(`code=a+code&code=b&state=${state}`), 'not-asked-for'],
    ['without a code', (state) => new URLSearchParams({ state }), 'not-asked-for'],
    ['of another provider (mix-up)', { iss: 'https://evil.example' }, 'not-asked-for'],
    ['of no provider', { iss: 'evil' }, 'not-asked-for'],
    ['with an error', { error: 'access_denied' }, 'denied'],
  ])('%s, and its code goes nowhere', async (_, changed, fault) => {
    expect(await faultOfSignIn({}, { answer: changed })).toEqual({ fault, tokensAsked: 0 })
  })

  test.each<[string, string, Answers[string]]>([
    ['token endpoint redirects', '/token', (response) => response.writeHead(307, { location: '/x' }).end()],
    ['token endpoint answers without end', '/token', (response) => response.writeHead(200).end(' '.repeat(300_000))],
    ['token endpoint hangs up', '/token', (response) => void response.socket!.destroy()],
    ['token endpoint fails', '/token', (response) => response.writeHead(503).end()],
    ['address of users redirects', '/user', (response) => response.writeHead(302, { location: '/x' }).end()],
    ['address of users answers without end', '/user', (response) => response.end(`{"id":5}${' '.repeat(300_000)}`)],
    ['address of users fails', '/user', (response) => response.writeHead(500).end('{"id":5}')],
  ])('where the %s', async (_, path, hostile) => {
    expect(['not-available', 'not-believed']).toContain((await faultOfSignIn({ answers: { [path]: hostile } })).fault)
  })

  test('where the secret was given for another', async () => {
    const asked = { secret: { fault: 'Set it anew.' } }
    expect(await faultOfSignIn({}, { asked })).toEqual({ fault: 'not-available', tokensAsked: 0 })
  })
})
