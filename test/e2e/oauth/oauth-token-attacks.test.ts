import { randomUUID } from 'node:crypto'
import {
  decodeJwt,
  decodeProtectedHeader,
  generateKeyPair,
  importPKCS8,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from 'jose'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { examplePair } from '../../examples/machines.ts'
import {
  assertion,
  basic,
  type ExampleClient,
  grantBy,
  issuer,
  newClient,
  obtainToken,
  sendForm,
} from '../../examples/oauth.ts'
import { admin, newOrganization, ok } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { call, encodings } from '../clients/encodings.ts'

const urls = [issuer(), inject('roster').house?.secondUrl ?? issuer()]
let home: string
let client: ExampleClient
let token: string
let watcher: ExampleClient

beforeAll(async () => {
  home = await newOrganization()
  client = await newClient({ organization: home, jwt: true })
  watcher = await newClient({ organization: home })
  token = await obtainToken(client, 'openid')
})

const signed = async (changed: JWTPayload, header: object = {}, key?: Parameters<SignJWT['sign']>[0]) =>
  new SignJWT({ ...decodeJwt(token), ...changed })
    .setProtectedHeader({ ...(decodeProtectedHeader(token) as { alg: string }), ...header })
    .sign(key ?? (await generateKeyPair('ES256')).privateKey)
const parts = () => token.split('.') as [string, string, string]
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Each attack forges a token that looks like an access token of Roster. */
const attacks: { attack: string; forge: () => Promise<string> | string }[] = [
  { attack: 'alg none', forge: () => new UnsecuredJWT(decodeJwt(token)).encode() },
  {
    attack: 'alg none, with our signature',
    forge: () => [encode({ alg: 'none', typ: 'at+jwt' }), ...parts().slice(1)].join('.'),
  },
  { attack: 'HS256 with a published key as the secret', forge: () => confused() },
  { attack: 'signed by a foreign key with our kid', forge: () => signed({}) },
  { attack: 'with its own key in the header', forge: () => selfContained() },
  {
    attack: 'with the address of keys in the header',
    forge: () => signed({}, { jku: 'https://evil.example.com/keys' }),
  },
  { attack: 'an unknown kid', forge: () => signed({}, { kid: 'unknown' }) },
  {
    attack: 'with more in its payload',
    forge: () => [parts()[0], encode({ ...decodeJwt(token), sub: 'admin' }), parts()[2]].join('.'),
  },
  { attack: 'cut off', forge: () => token.slice(0, -6) },
  { attack: 'without its signature', forge: () => token.replace(/[^.]+$/, '') },
  { attack: 'without its last part', forge: () => parts().slice(0, 2).join('.') },
  { attack: 'with another signature of the same key', forge: async () => [parts()[0], parts()[1], (await obtainToken(client)).split('.')[2]].join('.') }, // prettier-ignore
  { attack: 'an assertion of the machine', forge: () => assertion(client) },
  { attack: 'the secret of the machine', forge: () => client.secret },
  { attack: 'the id of the token', forge: () => decodeJwt(token).jti! },
]

/** Each attack in one encoding. */
const inEncodings = attacks.map((attack, at) => ({ ...attack, ...encodings[at % encodings.length]! }))

describe('every gateway refuses a forged access token, and introspection calls it inactive:', () => {
  test.each(inEncodings)('$attack, over $encoding', async ({ forge, call }) => {
    const forged = await forge()
    for (const url of urls)
      expect(factsOf(await call('GetUser', { userId: client.userId }, { token: forged, url })).reason).toBe(
        'TOKEN_INVALID',
      )
    expect(await introspect(forged)).toEqual({ active: false })
    const response = await fetch(`${issuer()}/oidc/v1/userinfo`, { headers: { authorization: `Bearer ${forged}` } })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"')
    expect(await response.json()).toMatchObject({ error: 'invalid_token' })
  })

  test('and accepts the real token', async () => {
    for (const { call } of encodings)
      for (const url of urls) ok(await call('GetUser', { userId: client.userId }, { token, url }))
    expect(await introspect(token)).toMatchObject({ active: true })
  })
})

const ends: { end: string; act: (client: ExampleClient, token: string) => Promise<unknown> }[] = [
  { end: 'its revocation', act: (client, token) => revoke(client, token) },
  {
    end: 'the removal of the secret',
    act: ({ userId, secretId }) => done('RemoveMachineSecret', { userId, secretId }),
  },
  { end: 'the removal of the key', act: ({ userId, keyId }) => done('RemoveMachineKey', { userId, keyId }) },
  { end: 'the deactivation of the machine', act: ({ userId }) => done('DeactivateUser', { userId }) },
  {
    end: 'a deactivation, although it was taken back',
    act: async ({ userId }) => [await done('DeactivateUser', { userId }), await done('ReactivateUser', { userId })],
  },
  { end: 'the lock of the machine', act: ({ userId }) => done('LockUser', { userId }) },
  { end: 'the removal of the machine', act: ({ userId }) => done('DeleteUser', { userId }) },
  {
    end: 'the deactivation of its organization',
    act: async ({ organization }) => ok(await call('DeactivateOrganization', {}, admin(organization))),
  },
]

describe.each([
  { kind: 'opaque', jwt: false },
  { kind: 'JWT', jwt: true },
])('every gateway refuses an $kind token', ({ jwt }) => {
  test.each(ends)('after $end', async ({ end, act }) => {
    const ofItsOwn = end.includes('organization')
    const victim = await newClient({ organization: ofItsOwn ? await newOrganization() : home, jwt })
    const text = end.includes('key')
      ? ((await grantBy(await assertion(victim))).body.access_token as string)
      : await obtainToken(victim)
    const seen = async () =>
      Promise.all(
        urls.map(async (url) => factsOf(await call('GetUser', { userId: victim.userId }, { token: text, url })).reason),
      )
    expect(await seen()).toEqual([undefined, undefined])
    await act(victim, text)
    await expect.poll(seen, { timeout: 5000, interval: 20 }).toEqual(['TOKEN_INVALID', 'TOKEN_INVALID'])
    // Elsewhere it is not active for this watcher anyway.
    if (!ofItsOwn) expect(await introspect(text)).toEqual({ active: false })
  })
})

describe.each([
  { kind: 'opaque', jwt: false },
  { kind: 'JWT', jwt: true },
])('a service that gets an $kind token for a project', ({ jwt }) => {
  test('cannot use it in Roster, in any encoding, except to learn its owner', async () => {
    const owner = await newClient({ organization: home, jwt, roles: ['ORG_OWNER'] })
    const { userId } = owner
    const projectId = await newProject(home, ['reader'])
    ok(await call('AddUserGrant', { userId, projectId, roleKeys: ['reader'] }, admin(home)))
    const shown = await obtainToken(owner, `openid roles project:${projectId}`)
    const own = await obtainToken(owner, 'openid roles')
    for (const { call } of encodings)
      for (const url of urls) {
        const refused = factsOf(await call('GetUser', { userId: client.userId }, { token: shown, url }))
        expect([refused.code, refused.reason]).toEqual([16, 'TOKEN_FOR_PROJECT'])
        ok(await call('GetUser', { userId: client.userId }, { token: own, url }))
      }
    const headers = { authorization: `Bearer ${shown}` }
    const answer = await fetch(`${issuer()}/v2/users/${userId}`, { headers })
    expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"')
    const whose = await fetch(`${issuer()}/oidc/v1/userinfo`, { headers })
    expect(await whose.json()).toMatchObject({ sub: userId, roles: ['reader'] })
    expect(await introspect(shown)).toMatchObject({ active: true, aud: [projectId] })
    expect(await introspect(own)).toMatchObject({ active: true, aud: [issuer()] })
  })
})

describe('knowledge and end of a token:', () => {
  test('a machine of another organization learns nothing, and cannot revoke it', async () => {
    const stranger = await newClient()
    const form = { token }
    const headers = basic(stranger.userId, stranger.secret)
    expect((await sendForm('/oauth/v2/introspect', form, { headers })).body).toEqual({ active: false })
    expect(await sendForm('/oauth/v2/revoke', form, { headers })).toMatchObject({ status: 200, body: {} })
    expect(await introspect(token)).toMatchObject({ active: true })
  })

  test('a machine of the same organization can introspect it, but not revoke it', async () => {
    const headers = basic(watcher.userId, watcher.secret)
    expect((await sendForm('/oauth/v2/revoke', { token }, { headers })).status).toBe(200)
    expect(await introspect(token)).toMatchObject({ active: true })
  })

  test('a personal access token is introspected by others, and revoked by its own machine alone', async () => {
    const owner = await newClient({ organization: home })
    const { userId } = owner
    const { token: pat, tokenId } = ok(await call('AddPersonalAccessToken', { userId }, admin()))
    const seen = () =>
      Promise.all(urls.map(async (url) => factsOf(await call('GetUser', { userId }, { token: pat, url })).reason))
    await revoke(client, pat)
    expect(await introspect(pat)).toMatchObject({ active: true, sub: userId, token_type: 'Bearer' })
    expect(await seen()).toEqual([undefined, undefined])
    await revoke(owner, pat)
    await expect.poll(seen, { timeout: 5000, interval: 20 }).toEqual(['TOKEN_INVALID', 'TOKEN_INVALID'])
    expect(await introspect(pat)).toEqual({ active: false })
    expect(ok(await call('ListPersonalAccessTokens', { userId }, admin())).tokens ?? []).toEqual([])
    const filter = { aggregateTypes: ['user'], aggregateIds: [userId] }
    const newest = async () => ok(await call('SearchEvents', { filter }, admin())).events?.at(-1)
    const removed = { type: 'roster.user.pat.removed.v1', data: { tokenId }, actor: userId }
    await expect.poll(newest, { timeout: 20_000 }).toMatchObject(removed)
    await revoke(owner, pat)
  })
})

test('a token does not outlive the secret that obtained it', async () => {
  const { userId } = await newClient({ organization: home })
  const expirationDate = new Date(Date.now() + 600_000).toISOString()
  const { clientSecret } = ok(await call('AddMachineSecret', { userId, expirationDate }, admin()))
  const answer = await sendForm(
    '/oauth/v2/token',
    { grant_type: 'client_credentials' },
    { headers: basic(userId, clientSecret) },
  )
  expect(answer.body.expires_in).toBeLessThanOrEqual(600)
  expect(answer.body.expires_in).toBeGreaterThan(590)
})

async function introspect(text: string): Promise<object> {
  const headers = basic(watcher.userId, watcher.secret)
  return (await sendForm('/oauth/v2/introspect', { token: text }, { headers })).body as object
}

async function revoke({ userId, secret }: ExampleClient, text: string) {
  expect((await sendForm('/oauth/v2/revoke', { token: text }, { headers: basic(userId, secret) })).status).toBe(200)
}

async function done(operation: Parameters<typeof call>[0], request: Parameters<typeof call>[1]) {
  ok(await call(operation, request, admin()))
}

async function confused() {
  const { keys } = (await (await fetch(`${issuer()}/oauth/v2/keys`)).json()) as { keys: object[] }
  return signed({ jti: randomUUID() }, { alg: 'HS256' }, new TextEncoder().encode(JSON.stringify(keys[0])))
}

async function selfContained() {
  const { jwk, privatePem } = examplePair()
  return signed({}, { jwk: JSON.parse(jwk) as object }, await importPKCS8(privatePem, 'ES256'))
}
