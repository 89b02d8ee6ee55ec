import { createPublicKey, randomUUID } from 'node:crypto'
import { exportJWK, generateKeyPair, importPKCS8, type JWK, type JWTHeaderParameters, UnsecuredJWT } from 'jose'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { examplePair, inSeconds } from '../../examples/machines.ts'
import {
  assertion,
  type ExampleClient,
  grantBy,
  issuer,
  newClient,
  newKey,
  privateKeyJwt,
} from '../../examples/oauth.ts'
import { admin, newOrganization, ok } from '../../examples/people.ts'
import { call } from '../clients/encodings.ts'

let home: string

beforeAll(async () => {
  home = await newOrganization()
})

const newMachine = (more = {}) => newClient({ organization: home, ...more })
const now = () => Math.floor(Date.now() / 1000)
const claims = (changed: Record<string, unknown>) => (client: ExampleClient) => assertion(client, { claims: changed })

/** Each attack forges an assertion that must be refused. */
const attacks: { attack: string; forge: (client: ExampleClient) => Promise<string> | string }[] = [
  { attack: 'alg none', forge: ({ userId }) => unsecured(userId) },
  { attack: 'HS256 with the public key as the secret', forge: (client) => confused(client) },
  { attack: 'another audience', forge: claims({ aud: 'https://elsewhere.example.com' }) },
  {
    attack: 'another audience beside ours',
    forge: (client) => claims({ aud: [issuer(), 'https://elsewhere.example.com'] })(client),
  },
  { attack: 'no audience', forge: claims({ aud: undefined }) },
  {
    attack: 'an audience that only begins as ours',
    forge: (client) => claims({ aud: `${issuer()}.evil.example` })(client),
  },
  { attack: 'another issuer than subject', forge: claims({ iss: 'somebody' }) },
  { attack: 'another subject than issuer', forge: claims({ sub: 'somebody' }) },
  { attack: 'an unknown machine', forge: claims({ iss: 'no-one', sub: 'no-one' }) },
  {
    attack: 'the name of a machine without its organization',
    forge: (c) => claims({ iss: c.userName, sub: c.userName })(c),
  },
  { attack: 'an unknown kid', forge: (client) => assertion(client, { header: { kid: 'unknown' } }) },
  {
    attack: 'a kid that reaches for a table',
    forge: (client) => assertion(client, { header: { kid: "' or 1=1 --" } }),
  },
  { attack: 'expired', forge: (client) => claims({ iat: now() - 120, exp: now() - 60 })(client) },
  { attack: 'no end', forge: claims({ exp: undefined }) },
  { attack: 'an end more than an hour away', forge: (client) => claims({ exp: now() + 3700 })(client) },
  { attack: 'not yet: nbf', forge: (client) => claims({ nbf: now() + 60 })(client) },
  { attack: 'not yet: iat', forge: (client) => claims({ iat: now() + 60, exp: now() + 120 })(client) },
  { attack: 'neither jti nor beginning', forge: claims({ jti: undefined, iat: undefined }) },
  { attack: 'an empty jti', forge: claims({ jti: '' }) },
  { attack: 'a key of another machine, by that key’s id', forge: (client) => byForeignKey(client, true) },
  { attack: 'a key of another machine, by an own key’s id', forge: (client) => byForeignKey(client, false) },
  { attack: 'a key of no one', forge: (client) => byForeignPair(client) },
  { attack: 'its own key in the header', forge: (client) => selfContained(client, (jwk) => ({ jwk })) },
  {
    attack: 'its own key in the header, and no kid',
    forge: (client) => selfContained(client, (jwk) => ({ jwk, kid: undefined as unknown as string })),
  },
  {
    attack: 'the address of its keys in the header',
    forge: (client) => selfContained(client, () => ({ jku: 'https://evil.example/jwks', x5u: 'https://evil.example' })),
  },
  {
    attack: 'a certificate of its own in the header',
    forge: (client) => selfContained(client, ({ x }) => ({ x5c: [Buffer.from(x!).toString('base64')] })),
  },
  { attack: 'a key of RS256 that signs by PS256', forge: () => otherAlgorithm() },
  { attack: 'a removed key', forge: (client) => removedKey(client) },
  { attack: 'a key that has expired', forge: (client) => expiredKey(client) },
  {
    attack: 'an unknown critical header',
    forge: (client) => assertion(client, { header: { crit: ['x'], x: 1 } }),
  },
  { attack: 'cut off', forge: async (client) => (await assertion(client)).slice(0, -4) },
  { attack: 'without its signature', forge: async (client) => (await assertion(client)).replace(/[^.]+$/, '') },
  { attack: 'with another payload', forge: (client) => repayloaded(client) },
  { attack: 'no JWT', forge: () => 'no.j.w.t' },
  { attack: 'a machine that is deactivated', forge: (client) => ended(client, 'DeactivateUser') },
  { attack: 'a machine that is locked', forge: (client) => ended(client, 'LockUser') },
  { attack: 'a machine that is removed', forge: (client) => ended(client, 'DeleteUser') },
  { attack: 'a machine of a deactivated organization', forge: () => ofDeactivated() },
]

describe('an assertion gives no token:', () => {
  test.each(attacks)('$attack', async ({ forge }) => {
    const client = await newMachine()
    const forged = await forge(client)
    const [grant, authentication] = [await grantBy(forged), await privateKeyJwt(forged)]
    expect(grant).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(authentication).toMatchObject({ status: 400, body: { error: 'invalid_client' } })
    expect(grant.body.error_description).toMatch(/^There is no such machine, or it cannot sign in this way. The log /)
    expect(authentication.body.error_description).toMatch(/^The client is unknown, its secret or key is wrong, or/)
  })

  test('the same assertion without the fault gives a token', async () => {
    expect((await grantBy(await assertion(await newMachine()))).status).toBe(200)
    expect((await privateKeyJwt(await assertion(await newMachine()))).status).toBe(200)
  })

  test.each([-25, 25])('a clock that differs by %i seconds is tolerated', async (off) => {
    const text = await assertion(await newMachine(), {
      claims: { iat: now() + off, nbf: now() + off, exp: now() + off + 5 },
    })
    expect((await grantBy(text)).status).toBe(200)
  })
})

describe('an assertion works once:', () => {
  test.each([
    { how: 'for two grants', first: grantBy, second: grantBy, error: 'invalid_grant' },
    { how: 'by a client twice', first: privateKeyJwt, second: privateKeyJwt, error: 'invalid_client' },
    { how: 'by a client, then as a grant', first: privateKeyJwt, second: grantBy, error: 'invalid_grant' },
  ])('$how', async ({ first, second, error }) => {
    const text = await assertion(await newMachine())
    expect((await first(text)).status).toBe(200)
    expect(await second(text)).toMatchObject({ status: 400, body: { error } })
  })

  test('with any number of concurrent uses, over two gateways and two replicas', async () => {
    const urls = [issuer(), inject('roster').house?.secondUrl ?? issuer()]
    for (let round = 0; round < 3; round++) {
      const text = await assertion(await newMachine())
      const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => grantBy(text, {}, urls[n % 2])))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      for (const { status, body } of answers)
        if (status !== 200) expect(['invalid_grant', 'temporarily_unavailable']).toContain(body.error)
    }
  })

  test('after an introspection, too', async () => {
    const text = await assertion(await newMachine())
    const path = '/oauth/v2/introspect'
    expect((await privateKeyJwt(text, { token: 'x' }, undefined, path)).body).toEqual({ active: false })
    expect(await privateKeyJwt(text, { token: 'x' }, undefined, path)).toMatchObject({
      body: { error: 'invalid_client' },
    })
    expect(await grantBy(text)).toMatchObject({ body: { error: 'invalid_grant' } })
  })

  test('two machines may use the same jti', async () => {
    const jti = randomUUID()
    for (const client of [await newMachine(), await newMachine()])
      expect((await grantBy(await assertion(client, { claims: { jti } }))).status).toBe(200)
  })
})

test('without a kid, the only possible key is used; of two keys, none', async () => {
  const client = await newMachine()
  const unnamed = () => assertion(client, { header: { kid: undefined as unknown as string } })
  expect((await grantBy(await unnamed())).status).toBe(200)
  await newKey(client.userId, 'RS256')
  expect((await grantBy(await unnamed())).status).toBe(200)
  await newKey(client.userId)
  expect(await grantBy(await unnamed())).toMatchObject({ body: { error: 'invalid_grant' } })
})

function unsecured(userId: string) {
  const own = { iss: userId, sub: userId, aud: issuer(), exp: now() + 60, jti: randomUUID() }
  return new UnsecuredJWT(own).encode()
}

async function confused(client: ExampleClient) {
  const { keys } = ok(await call('ListMachineKeys', { userId: client.userId }, admin()))
  return assertion(client, { header: { alg: 'HS256' }, key: new TextEncoder().encode(keys[0].publicKey) })
}

async function byForeignKey(client: ExampleClient, named: boolean) {
  const { key, keyId } = await newMachine()
  return assertion({ ...client, key, keyId: named ? keyId : client.keyId })
}

async function byForeignPair(client: ExampleClient) {
  return assertion(client, { key: await importPKCS8(examplePair().privatePem, 'ES256') })
}

async function selfContained(client: ExampleClient, header: (jwk: JWK) => Partial<JWTHeaderParameters>) {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  return assertion(client, { header: header(await exportJWK(publicKey)), key: privateKey })
}

async function otherAlgorithm() {
  const client = await newMachine({ algorithm: 'RS256' })
  const { privatePem } = examplePair('RS256')
  ok(await call('RemoveMachineKey', { userId: client.userId, keyId: client.keyId }, admin()))
  const publicKey = createPublicKey(privatePem).export({ format: 'pem', type: 'spki' }).toString()
  const { keyId } = ok(await call('AddMachineKey', { userId: client.userId, publicKey }, admin()))
  const key = await importPKCS8(privatePem, 'PS256')
  return assertion({ ...client, keyId }, { header: { alg: 'PS256' }, key })
}

async function removedKey(client: ExampleClient) {
  ok(await call('RemoveMachineKey', { userId: client.userId, keyId: client.keyId }, admin()))
  return assertion(client)
}

async function expiredKey(client: ExampleClient) {
  const end = inSeconds(1)
  const key = await newKey(client.userId, 'ES256', end)
  await expect.poll(() => Date.now() > Date.parse(end)).toBe(true)
  return assertion({ ...client, ...key })
}

async function repayloaded(client: ExampleClient) {
  const [one, other] = [await assertion(client), await assertion(client)]
  const [header, , signature] = one.split('.')
  return [header, other.split('.')[1], signature].join('.')
}

async function ofDeactivated() {
  const client = await newMachine({ organization: await newOrganization() })
  ok(await call('DeactivateOrganization', {}, admin(client.organization)))
  // Its users hear of it a moment later.
  await expect.poll(async () => (await grantBy(await assertion(client))).status).toBe(400)
  return assertion(client)
}

async function ended(client: ExampleClient, operation: 'DeactivateUser' | 'LockUser' | 'DeleteUser') {
  ok(await call(operation, { userId: client.userId }, admin()))
  return assertion(client)
}
