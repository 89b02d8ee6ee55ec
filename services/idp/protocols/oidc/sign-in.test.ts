import { createHash } from 'node:crypto'
import { SignJWT, UnsecuredJWT } from 'jose'
import { afterEach, describe, expect, test } from 'vitest'
import { IDPCallback } from '#gen/roster/idp/v1/idp_config'
import { type Answers, redirectUri, soundAnswers } from '#test/support/upstreams/upstreams'
import {
  ada,
  askedOf,
  description,
  keys,
  type Lie,
  startProvider,
  stopProviders,
  stranger,
} from '../../testing/oidc-provider.ts'
import { type Upstream as Asked, UpstreamError } from '../protocol.ts'
import { begin, newBegun } from './begin.ts'
import { callback } from './callback.ts'

afterEach(stopProviders)

const answer = (state: string, more: Record<string, string> = {}) =>
  new URLSearchParams({ code: 'a code', state, ...more })

test('a sign-in proves issuer and subject byte for byte, by PKCE, nonce and state of its own', async () => {
  const begun = newBegun()
  const { url, asked } = await startProvider(begun.nonce)
  const upstream = askedOf(url)
  const to = await begin(upstream, begun, { loginHint: 'ada@example.com', promptsLogin: true, maxAge: 300 })
  expect(`${to.origin}${to.pathname}`).toBe(`${url}/authorize`)
  const sent = Object.fromEntries(to.searchParams)
  expect(sent).toEqual({
    response_type: 'code',
    client_id: 'roster',
    redirect_uri: redirectUri,
    scope: 'openid profile email',
    state: begun.state,
    nonce: begun.nonce,
    code_challenge: createHash('sha256').update(begun.codeVerifier).digest('base64url'),
    code_challenge_method: 'S256',
    login_hint: 'ada@example.com',
    prompt: 'login',
    max_age: '300',
  })
  const proved = await callback(upstream, begun, { maxAge: 300 }, answer(begun.state, { iss: url }))
  expect(proved).toEqual({
    issuer: url,
    subject: 'Ada|1',
    authTime: expect.any(Date),
    tokens: { accessToken: 'access', idToken: expect.any(String) },
    claims: { email: 'ada@example.com', emailVerified: true, givenName: 'Ada' },
    methods: { amr: [], acr: [] },
    said: expect.objectContaining({ sub: 'Ada|1' }),
  })
  expect(Object.fromEntries(asked[0]!)).toEqual({
    code: 'a code',
    grant_type: 'authorization_code',
    redirect_uri: redirectUri,
    code_verifier: begun.codeVerifier,
  })
  expect(Object.values(newBegun()).some((value) => Object.values(begun).includes(value))).toBe(false)
})

test('how a person signed in is what the provider signed, and nothing that came beside it', async () => {
  const begun = newBegun()
  const lie = { claims: { amr: ['pwd', 'mfa'], acr: 'phr' }, userinfo: { ...ada, amr: ['hwk'], acr: 'phrh' } }
  const { url } = await startProvider(begun.nonce, lie)
  const { methods } = await callback(askedOf(url), begun, {}, answer(begun.state))
  expect(methods).toEqual({ amr: ['pwd', 'mfa'], acr: ['phr'] })
})

test('the address of users is not asked where the ID token alone says who it is', async () => {
  const begun = newBegun()
  const { url } = await startProvider(begun.nonce, { claims: { given_name: 'Augusta' } })
  const upstream = askedOf(url)
  const alone = { ...upstream, configuration: { ...upstream.configuration, idTokenAlone: true } }
  const { claims } = await callback(alone, begun, {}, answer(begun.state))
  expect(claims).toEqual({ givenName: 'Augusta' })
})

test('the keys of a provider are asked for once in five minutes, also where a key is unknown', async () => {
  const sign: Lie['sign'] = (_, claims) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: claims['kid'] as string }).sign(keys.privateKey)
  const begun = newBegun()
  let kid = 'one'
  const claims = {
    get kid() {
      return kid
    },
  }
  const { url, seen } = await startProvider(begun.nonce, { sign, claims })
  const signIn = () => callback(askedOf(url), begun, {}, answer(begun.state))
  await signIn()
  await signIn()
  kid = 'two'
  await expect(signIn()).rejects.toMatchObject({ fault: 'not-believed' })
  await expect(signIn()).rejects.toMatchObject({ fault: 'not-believed' })
  expect(seen.keyRequests).toBe(1)
})

async function faultOfSignIn(lie: Lie, more: { answer?: Record<string, string>; asked?: Partial<Asked<'oidc'>> } = {}) {
  const begun = newBegun()
  const { url, asked } = await startProvider(begun.nonce, lie)
  const wish = { maxAge: 300 }
  const proved = callback(askedOf(url, more.asked), begun, wish, answer(begun.state, more.answer))
  const error: unknown = await proved.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(UpstreamError)
  return { fault: (error as UpstreamError).fault, tokensAsked: asked.length }
}

const past = Math.floor(Date.now() / 1000) - 600

describe('an answer proves nobody', () => {
  test.each<[string, Lie]>([
    ['of another issuer', { claims: { iss: 'https://evil.example' } }],
    ['for another client', { claims: { aud: 'other' } }],
    ['for several clients, where another one asked', { claims: { aud: ['roster', 'other'], azp: 'other' } }],
    ['with another nonce', { claims: { nonce: 'another' } }],
    ['without a nonce', { claims: { nonce: undefined } }],
    ['that is over', { claims: { exp: past } }],
    ['that never ends', { claims: { exp: undefined } }],
    ['without a subject', { claims: { sub: undefined } }],
    ['with a subject that no text of PostgreSQL has', { claims: { sub: 'ada\0' } }],
    ['with a subject that is too long', { claims: { sub: 'a'.repeat(256) } }],
    ['of a sign-in that is too old', { claims: { auth_time: past } }],
    ['that does not say when the sign-in was', { claims: { auth_time: undefined } }],
    ['whose userinfo is of another person', { userinfo: { ...ada, sub: 'ada|1' } }],
    ['without a signature', { sign: (_, claims) => new UnsecuredJWT(claims).encode() }],
    ['that a stranger signed', { sign: (token) => token.sign(stranger.privateKey) }],
    [
      'that the shared secret signed',
      {
        sign: (_, claims) =>
          new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from('a secret'.repeat(4))),
      },
    ],
    ['that is no token', { sign: () => 'a.b.c' }],
    ['of a token endpoint that refuses', { answers: { '/token': soundAnswers['/token']! } }],
  ])('%s', async (_, lie) => {
    expect((await faultOfSignIn(lie)).fault).toBe('not-believed')
  })

  test.each<[string, Record<string, string>, string]>([
    ['with another state', { state: 'another' }, 'not-asked-for'],
    ['of another provider (mix-up)', { iss: 'https://evil.example' }, 'not-asked-for'],
    ['with an error', { error: 'access_denied' }, 'denied'],
  ])('%s, and its code goes nowhere', async (_, changed, fault) => {
    expect(await faultOfSignIn({}, { answer: changed })).toEqual({ fault, tokensAsked: 0 })
  })

  test('without iss, where the provider says that it sends one', async () => {
    const saying = { ...description, authorization_response_iss_parameter_supported: true }
    const answers: Answers = { '/.well-known/openid-configuration': saying }
    expect(await faultOfSignIn({ answers })).toEqual({ fault: 'not-asked-for', tokensAsked: 0 })
  })

  test('at an address that others have, too, of a provider that does not say that it sends iss', async () => {
    const { url, asked } = await startProvider('nonce')
    const configuration = { ...askedOf(url).configuration, callback: IDPCallback.IDP_CALLBACK_ZITADEL }
    const [upstream, begun] = [askedOf(url, { configuration }), newBegun()]
    await expect(begin(upstream, begun, {})).rejects.toMatchObject({ fault: 'not-available' })
    const answered = callback(upstream, begun, {}, answer(begun.state, { iss: url }))
    await expect(answered).rejects.toMatchObject({ fault: 'not-available' })
    expect(asked).toEqual([])
  })

  test.each<[string, Answers]>([
    ['redirects', { '/token': (response) => response.writeHead(307, { location: '/elsewhere' }).end() }],
    ['answers without end', { '/token': (response) => response.writeHead(200).end(' '.repeat(300_000)) }],
    ['hangs up', { '/token': (response) => void response.socket!.destroy() }],
  ])('where the token endpoint %s', async (_, answers) => {
    expect(['not-available', 'not-believed']).toContain((await faultOfSignIn({ answers })).fault)
  })

  test('where the secret was given for another', async () => {
    const asked = { secret: { fault: 'Set it anew.' } }
    expect(await faultOfSignIn({}, { asked })).toEqual({ fault: 'not-available', tokensAsked: 0 })
  })
})
