import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { afterEach, describe, expect, test } from 'vitest'
import { destinations } from '#lib/outbound/destinations'
import { guardedFetch } from '#lib/outbound/guarded-fetch'
import { type Answers, redirectUri, startHostileProvider, type Upstream } from '#test/support/upstreams/upstreams'
import { newBegun } from '../oidc/begin.ts'
import { type Upstream as Asked, UpstreamError } from '../protocol.ts'
import { jwt } from './jwt.ts'

const started: Upstream[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((upstream) => upstream.stop()))
})

const [keys, stranger] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')])
const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', use: 'sig' }
const now = Math.floor(Date.now() / 1000)
const audience = 'https://id.example.com/idps/acme'
const ada = { iss: 'acme', aud: audience, sub: 'Ada|1', iat: now, exp: now + 300, email: 'ada@example.com' }
const header = { alg: 'ES256', kid: 'one' }

async function askedOf(answers: Answers = { '/keys': { keys: [jwk] } }): Promise<Asked<'jwt'>> {
  const upstream = await startHostileProvider(answers)
  started.push(upstream)
  const fetch = guardedFetch(destinations.read('127.0.0.1'), { within: 5000, mostBody: 256 * 1024 })
  const jwtEndpoint = 'https://sign-in.example.com/start?app=roster'
  const keysEndpoint = `${upstream.url}/keys`
  const configuration = { jwtEndpoint, keysEndpoint, issuer: 'acme', headerName: 'x-token', audience }
  return { configuration, secret: { fault: 'none' }, redirectUri, fetch, clockAhead: 0 }
}

const signed = (claims: Record<string, unknown>, key = keys.privateKey) =>
  new SignJWT(claims).setProtectedHeader(header).sign(key)
const answer = (state: string) => new URLSearchParams({ state })

test('a sign-in proves issuer and subject of the token that came with its state', async () => {
  const begun = newBegun()
  const upstream = await askedOf()
  const to = await jwt.begin(upstream, begun, {})
  expect(`${to.origin}${to.pathname}`).toBe('https://sign-in.example.com/start')
  const sent = { app: 'roster', state: begun.state, redirect_uri: redirectUri }
  expect(Object.fromEntries(to.searchParams)).toEqual(sent)
  const token = await signed({ ...ada, auth_time: now - 60, jti: 'one' })
  const proved = await jwt.callback(upstream, begun, { maxAge: 300 }, answer(begun.state), [`Bearer ${token}`])
  expect(proved).toEqual({
    issuer: 'acme',
    subject: 'Ada|1',
    authTime: new Date((now - 60) * 1000),
    claims: { email: 'ada@example.com' },
    methods: { amr: [], acr: [] },
    said: expect.objectContaining({ sub: 'Ada|1' }),
    once: { of: expect.stringMatching(/^[\w-]{43}$/), seconds: 900 },
  })
})

test('a token is told again by its id, or by what was signed', async () => {
  const upstream = await askedOf()
  const begun = newBegun()
  const once = async (claims: Record<string, unknown>) => {
    const proved = await jwt.callback(upstream, begun, {}, answer(begun.state), [await signed(claims)])
    return proved.once!.of
  }
  // ES256 signs the same in another way each time.
  expect(await once(ada)).toBe(await once(ada))
  expect(await once({ ...ada, jti: 'one' })).toBe(await once({ ...ada, jti: 'one', exp: now + 200 }))
  const all = [await once(ada), await once({ ...ada, jti: 'one' }), await once({ ...ada, jti: 'two' })]
  expect(new Set(all).size).toBe(3)
})

async function faultOf(
  tokens: string[],
  { state, maxAge, answers }: { state?: string; maxAge?: number; answers?: Answers },
) {
  const begun = newBegun()
  const upstream = await askedOf(answers)
  const error: unknown = await jwt.callback(upstream, begun, { maxAge }, answer(state ?? begun.state), tokens).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(UpstreamError)
  return (error as UpstreamError).fault
}

describe('nobody is proved', () => {
  test.each<[string, Record<string, unknown>]>([
    ['of another issuer', { ...ada, iss: 'other' }],
    ['for another audience', { ...ada, aud: 'https://id.example.com/idps/other' }],
    ['for no audience', { ...ada, aud: undefined }],
    ['for others, too', { ...ada, aud: [audience, 'other'] }],
    ['that never ends', { ...ada, exp: undefined }],
    ['that is over', { ...ada, iat: now - 400, exp: now - 100 }],
    ['that lives too long', { ...ada, exp: now + 301 }],
    ['without a time of issue', { ...ada, iat: undefined }],
    ['of tomorrow', { ...ada, iat: now + 86_400, exp: now + 86_700 }],
    ['that is not valid yet', { ...ada, nbf: now + 200 }],
    ['without a subject', { ...ada, sub: undefined }],
    ['whose subject is a number', { ...ada, sub: 5 }],
    ['whose subject no text of PostgreSQL has', { ...ada, sub: 'ada\0' }],
  ])('by a token %s', async (_, claims) => {
    expect(await faultOf([await signed(claims)], {})).toBe('not-believed')
  })

  test('by what signs with no key of the provider', async () => {
    const secret = Buffer.from(JSON.stringify(jwk))
    const forged = [
      await signed(ada, stranger.privateKey),
      new UnsecuredJWT(ada).encode(),
      await new SignJWT(ada).setProtectedHeader({ alg: 'HS256', kid: 'one' }).sign(secret),
      await new SignJWT(ada)
        .setProtectedHeader({ ...header, jwk: await exportJWK(stranger.publicKey) })
        .sign(stranger.privateKey),
      'a.b.c',
      '',
    ]
    for (const token of forged) expect(await faultOf([token], {})).toBe('not-believed')
  })

  test('without a token, and by two', async () => {
    const token = await signed(ada)
    expect(await faultOf([], {})).toBe('not-believed')
    expect(await faultOf([token, token], {})).toBe('not-believed')
    expect(await faultOf([`${token}, ${token}`], {})).toBe('not-believed')
    expect(await faultOf([token + 'a'.repeat(17_000)], {})).toBe('not-believed')
  })

  test('by a token that came without being asked for', async () => {
    expect(await faultOf([await signed(ada)], { state: 'another' })).toBe('not-asked-for')
  })

  test('who signed in too long ago, or at a time that is not said', async () => {
    expect(await faultOf([await signed({ ...ada, auth_time: now - 600 })], { maxAge: 300 })).toBe('not-believed')
    expect(await faultOf([await signed(ada)], { maxAge: 300 })).toBe('not-believed')
  })

  test.each<[string, Answers]>([
    ['are not there', {}],
    ['are elsewhere', { '/keys': (response) => response.writeHead(302, { location: '/x' }).end() }],
    ['are no keys', { '/keys': (response) => response.end('<html>') }],
    ['are without end', { '/keys': (response) => response.end(' '.repeat(300_000)) }],
  ])('where the keys %s', async (_, answers) => {
    expect(await faultOf([await signed(ada)], { answers })).toBe('not-available')
  })
})
