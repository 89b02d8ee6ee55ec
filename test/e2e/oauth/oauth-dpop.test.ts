import { createHash, randomUUID } from 'node:crypto'
import { calculateJwkThumbprint, decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose'
import * as openid from 'openid-client'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import {
  basic,
  clientCredentials,
  type ExampleClient,
  issuer,
  newClient,
  sendForm,
  tokenPath,
} from '../../examples/oauth.ts'
import { admin, getUser, newHuman, newOrganization, ok } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { call, encodings, recordSecret } from '../clients/encodings.ts'
import { grpcPath } from '../clients/messages.ts'

const urls = [issuer(), inject('roster').house?.secondUrl ?? issuer()]
let home: string
let client: ExampleClient
let key: Pair

beforeAll(async () => {
  home = await newOrganization()
  client = await newClient({ organization: home, jwt: true })
  key = await generateKeyPair('ES256')
})

type Pair = Awaited<ReturnType<typeof generateKeyPair>>
type Changed = { claims?: Record<string, unknown>; header?: object; key?: Pair }

async function proof(verb: string, url: string, token?: string, { claims, header, key: other = key }: Changed = {}) {
  const ath = token === undefined ? {} : { ath: createHash('sha256').update(token).digest('base64url') }
  const iat = Math.floor(Date.now() / 1000)
  return new SignJWT({ htm: verb, htu: url, jti: randomUUID(), iat, ...ath, ...claims })
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: await exportJWK(other.publicKey), ...header })
    .sign(other.privateKey)
}

async function ask(text: string | undefined, { userId, secret } = client) {
  const headers = { ...basic(userId, secret), ...(text !== undefined && { dpop: text }) }
  return sendForm(tokenPath, { grant_type: clientCredentials }, { headers })
}

async function boundToken(): Promise<string> {
  return (await ask(await proof('POST', issuer() + tokenPath))).body.access_token as string
}

const userUrl = () => `${issuer()}/v2/users/${client.userId}`

async function getWith(authorization: string, dpop?: string, url = userUrl()) {
  const response = await fetch(url, { headers: { authorization, ...(dpop !== undefined && { dpop }) } })
  const { details } = (await response.json()) as { details?: { reason?: string }[] }
  return { status: response.status, reason: details?.[0]?.reason, challenge: response.headers.get('www-authenticate') }
}

test('openid-client obtains a bound token, uses it and has it introspected', async () => {
  const config = await openid.discovery(new URL(issuer()), client.userId, client.secret, undefined, {
    execute: [openid.allowInsecureRequests],
  })
  const handle = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair('ES256', { extractable: true }))
  const answer = await openid.clientCredentialsGrant(config, { scope: 'openid' }, { DPoP: handle })
  recordSecret(answer.access_token)
  expect(answer.token_type).toBe('dpop')
  const jkt = await handle.calculateThumbprint()
  expect(decodeJwt(answer.access_token)['cnf']).toEqual({ jkt })
  expect(await openid.tokenIntrospection(config, answer.access_token)).toMatchObject({
    token_type: 'DPoP',
    cnf: { jkt },
  })
  const userinfo = await openid.fetchUserInfo(config, answer.access_token, client.userId, { DPoP: handle })
  expect(userinfo.sub).toBe(client.userId)
  const own = await openid.fetchProtectedResource(
    config,
    answer.access_token,
    new URL(userUrl()),
    'GET',
    undefined,
    undefined,
    { DPoP: handle },
  )
  expect(own.status).toBe(200)
})

describe('a bound token', () => {
  test('is accepted with a proof in every encoding, and each proof once', async () => {
    const token = await boundToken()
    for (const { encoding, call } of encodings) {
      const [verb, url] = encoding === 'json' ? ['GET', userUrl()] : ['POST', issuer() + grpcPath('GetUser')]
      const headers = { authorization: `DPoP ${token}`, dpop: await proof(verb, url, token) }
      ok(await call('GetUser', { userId: client.userId }, { headers }))
      expect(factsOf(await call('GetUser', { userId: client.userId }, { headers })).reason).toBe('DPOP_PROOF_INVALID')
    }
  })

  test('is accepted with a proof whose time has a fraction', async () => {
    const token = await boundToken()
    const text = await proof('GET', userUrl(), token, { claims: { iat: Math.floor(Date.now() / 1000) - 0.5 } })
    expect((await getWith(`DPoP ${token}`, text)).status).toBe(200)
  })

  test('is refused with a proof that another gateway saw', async () => {
    const token = await boundToken()
    const headers = { authorization: `DPoP ${token}`, dpop: await proof('GET', userUrl(), token) }
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => call('GetUser', { userId: client.userId }, { headers, url: urls[n % 2]! })),
    )
    expect(answers.filter(({ error }) => !error)).toHaveLength(1)
  })

  const attacks: { attack: string; forge: (token: string) => Promise<string | undefined> }[] = [
    { attack: 'without a proof', forge: async () => undefined },
    { attack: 'for another method', forge: (token) => proof('POST', userUrl(), token) },
    { attack: 'for another path', forge: (token) => proof('GET', `${userUrl()}x`, token) },
    {
      attack: 'for another host',
      forge: (token) => proof('GET', userUrl().replace('localhost', 'evil.example'), token),
    },
    { attack: 'without ath', forge: () => proof('GET', userUrl()) },
    { attack: 'with the ath of another token', forge: async () => proof('GET', userUrl(), await boundToken()) },
    {
      attack: 'by another key',
      forge: async (token) => proof('GET', userUrl(), token, { key: await generateKeyPair('ES256') }),
    },
    {
      attack: 'that is too old',
      forge: (token) => proof('GET', userUrl(), token, { claims: { iat: Date.now() / 1000 - 100 } }),
    },
    { attack: 'that is of the future', forge: (token) => proof('GET', userUrl(), token, { claims: { iat: Date.now() / 1000 + 60 } }) }, // prettier-ignore
    { attack: 'without a jti', forge: (token) => proof('GET', userUrl(), token, { claims: { jti: undefined } }) },
    { attack: 'of another type', forge: (token) => proof('GET', userUrl(), token, { header: { typ: 'JWT' } }) },
    { attack: 'with a private key in it', forge: async (token) => proof('GET', userUrl(), token, { header: { jwk: await privateJwk() } }) }, // prettier-ignore
    { attack: 'that is cut off', forge: async (token) => (await proof('GET', userUrl(), token)).slice(0, -4) },
    { attack: 'twice in one request', forge: async (token) => `${await proof('GET', userUrl(), token)}, ${await proof('GET', userUrl(), token)}` }, // prettier-ignore
  ]

  test.each(attacks)('is refused with a proof $attack', async ({ forge }) => {
    const token = await boundToken()
    const { status, reason, challenge } = await getWith(`DPoP ${token}`, await forge(token))
    expect([status, reason]).toEqual([401, 'DPOP_PROOF_INVALID'])
    expect(challenge).toMatch(/^DPoP realm="roster", error="invalid_dpop_proof", algs="ES256 /)
  })

  test('is refused as a bearer token, even with a proof', async () => {
    const token = await boundToken()
    for (const text of [undefined, await proof('GET', userUrl(), token)])
      expect((await getWith(`Bearer ${token}`, text)).reason).toBe('TOKEN_INVALID')
    const url = `${issuer()}/oidc/v1/userinfo`
    const headers = { dpop: await proof('POST', url, token) }
    const answer = await fetch(url, { method: 'POST', headers, body: new URLSearchParams({ access_token: token }) })
    expect(answer.status).toBe(401)
  })

  test('and a bearer token is refused as a bound one', async () => {
    const token = (await ask(undefined)).body.access_token as string
    expect((await getWith(`DPoP ${token}`, await proof('GET', userUrl(), token))).reason).toBe('TOKEN_INVALID')
    expect((await getWith(`DPoP ${admin().token}`, await proof('GET', userUrl(), admin().token))).reason).toBe(
      'TOKEN_INVALID',
    )
  })

  test('is accepted with any query in the URL', async () => {
    const token = await boundToken()
    const answer = await getWith(`DPoP ${token}`, await proof('GET', `${userUrl()}?a=b`, token))
    expect(answer.status).toBe(200)
  })
})

describe('the token endpoint refuses a proof', () => {
  const own = issuer() + tokenPath
  test.each<{ attack: string; forge: () => Promise<string> }>([
    { attack: 'for another path', forge: () => proof('POST', userUrl()) },
    { attack: 'for another method', forge: () => proof('GET', own) },
    { attack: 'that is none', forge: async () => 'x' },
  ])('$attack', async ({ forge }) => {
    expect(await ask(await forge())).toMatchObject({ status: 400, body: { error: 'invalid_dpop_proof' } })
  })

  test('that was used before', async () => {
    const text = await proof('POST', own)
    expect((await ask(text)).status).toBe(200)
    expect(await ask(text)).toMatchObject({ status: 400, body: { error: 'invalid_dpop_proof' } })
  })
})

describe('a machine that needs bound tokens', () => {
  test('gets no other token, and every gateway refuses its other tokens', async () => {
    const machine = await newClient({ organization: home })
    const { userId } = machine
    const token = (await ask(undefined, machine)).body.access_token as string
    for (const url of urls) ok(await call('GetUser', { userId }, { token, url }))
    ok(await call('SetDPoP', { userId, required: true }, admin()))
    const seen = async () =>
      Promise.all(urls.map(async (url) => factsOf(await call('GetUser', { userId }, { token, url })).reason))
    await expect.poll(seen, { timeout: 5000, interval: 20 }).toEqual(['TOKEN_INVALID', 'TOKEN_INVALID'])
    expect((await getUser(userId)).machine.dpopRequired).toBe(true)
    expect(await ask(undefined, machine)).toMatchObject({ status: 400, body: { error: 'invalid_dpop_proof' } })
    const bound = await ask(await proof('POST', issuer() + tokenPath), machine)
    expect(bound).toMatchObject({ status: 200, body: { token_type: 'DPoP' } })
    ok(await call('SetDPoP', { userId }, admin()))
    expect((await ask(undefined, machine)).body.token_type).toBe('Bearer')
    // Tokens that were ended stay ended.
    expect(await seen()).toEqual(['TOKEN_INVALID', 'TOKEN_INVALID'])
  })

  test('changes nothing when the setting is repeated; a human has no such setting', async () => {
    const { userId } = await newClient({ organization: home })
    const first = ok(await call('SetDPoP', { userId, required: true }, admin())).details
    expect(ok(await call('SetDPoP', { userId, required: true }, admin())).details).toEqual(first)
    const human = await newHuman(home)
    expect(factsOf(await call('SetDPoP', { userId: human.userId, required: true }, admin())).reason).toBe(
      'NOT_A_MACHINE',
    )
  })
})

test('the thumbprint belongs to the key', async () => {
  const { cnf } = decodeJwt(await boundToken()) as { cnf?: { jkt: string } }
  expect(cnf?.jkt).toBe(await calculateJwkThumbprint(await exportJWK(key.publicKey)))
})

async function privateJwk() {
  const pair = await generateKeyPair('ES256', { extractable: true })
  return exportJWK(pair.privateKey)
}

test.each([
  { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA' },
  { kty: 'EC', crv: 'P-384', x: 'AAAA', y: 'AAAA' },
  { kty: 'EC', crv: 'P-256' },
  { kty: 'RSA' },
  { kty: 'OKP', crv: 'Ed25519', x: 'AA' },
])('the token endpoint refuses a proof with an invalid key: %j', async (jwk) => {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const alg = { EC: 'ES256', RSA: 'RS256', OKP: 'EdDSA' }[jwk.kty]
  const claims = { htm: 'POST', htu: issuer() + tokenPath, jti: randomUUID(), iat: Math.floor(Date.now() / 1000) }
  const text = [encode({ alg, typ: 'dpop+jwt', jwk }), encode(claims), 'A'.repeat(86)].join('.')
  const answer = await ask(text, await newClient({ organization: home }))
  expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_dpop_proof' } })
})
