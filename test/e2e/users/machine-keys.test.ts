import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { examplePair } from '../../examples/machines.ts'
import { newMachine, newMember, newOrganization, ok } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, recordSecret, over } from '../clients/encodings.ts'

let home: string
let owner: { token: string }

beforeAll(async () => {
  home = await newOrganization()
  owner = await newMember(home, ['ORG_OWNER'])
})

const algorithms = { RS256: 'KEY_ALGORITHM_RS256', ES256: 'KEY_ALGORITHM_ES256', EdDSA: 'KEY_ALGORITHM_EDDSA' } as const
const names = Object.keys(algorithms) as (keyof typeof algorithms)[]
const listed = async (userId: string) => ok(await json('ListMachineKeys', { userId }, owner)).keys

describe.each(over('json'))('keys over $encoding', ({ call }) => {
  test.each([...names, undefined])(
    'a new pair for %s: the listed public key verifies signatures of the key file',
    async (name) => {
      const userId = await newMachine(home)
      const algorithm = name && algorithms[name]
      const { keyId, keyDetails } = ok(await call('AddMachineKey', { userId, ...(algorithm && { algorithm }) }, owner))
      const file = JSON.parse(Buffer.from(keyDetails, 'base64').toString('utf8'))
      const key = expect.stringMatching(/^-----BEGIN PRIVATE KEY-----\n/)
      expect(file).toEqual({ type: 'serviceaccount', keyId, key, userId, clientId: userId })
      const [entry] = await listed(userId)
      expect(entry).toMatchObject({ keyId, algorithm: algorithm ?? 'KEY_ALGORITHM_RS256' })
      expect(Object.keys(JSON.parse(entry.publicKey))).not.toContain('d')
      const digest = name === 'EdDSA' ? null : 'sha256'
      const signature = sign(digest, Buffer.from('signed'), createPrivateKey(file.key))
      const publicKey = createPublicKey({ key: JSON.parse(entry.publicKey), format: 'jwk' })
      expect(verify(digest, Buffer.from('signed'), publicKey, signature)).toBe(true)
    },
  )

  test.each(names)(
    'a public key for %s as PEM, JWK and either in base64 is one key, with no key file',
    async (name) => {
      const userId = await newMachine(home)
      const { pem, jwk } = examplePair(name)
      const [first, ...others] = [pem, jwk, btoa(pem), btoa(jwk), ` ${pem} `, pem.replaceAll('\n', '\r\n')]
      const added = ok(await call('AddMachineKey', { userId, publicKey: first, type: 'KEY_TYPE_JSON' }, owner))
      expect(added).not.toHaveProperty('keyDetails')
      for (const publicKey of others)
        expect(factsOf(await call('AddMachineKey', { userId, publicKey }, owner))).toMatchObject({
          code: 6,
          reason: 'KEY_EXISTS',
        })
      expect(await listed(userId)).toEqual([
        expect.objectContaining({ keyId: added.keyId, algorithm: algorithms[name] }),
      ])
      ok(await call('AddMachineKey', { userId: await newMachine(home), publicKey: jwk }, owner))
    },
  )
})

const rsa = (modulusLength: number, publicExponent = 65_537) =>
  generateKeyPairSync('rsa', { modulusLength, publicExponent }).publicKey
const pemOf = (key: ReturnType<typeof rsa>) => key.export({ format: 'pem', type: 'spki' }).toString()
const said = (more: object, name?: (typeof names)[number]) =>
  JSON.stringify({ ...(JSON.parse(examplePair(name).jwk) as object), ...more })
const refused: Record<string, () => string> = {
  'RSA of 1024 bits': () => pemOf(rsa(1024)),
  'RSA of 2047 bits': () => pemOf(rsa(2047)),
  'RSA with the exponent 3': () => pemOf(rsa(2048, 3)),
  'RSA with the exponent 1': () => JSON.stringify({ ...rsa(2048).export({ format: 'jwk' }), e: 'AQ' }),
  'RSA of more than 4096 bits': () =>
    JSON.stringify({ kty: 'RSA', n: Buffer.alloc(640, 255).toString('base64url'), e: 'AQAB' }),
  'RSA for PSS alone': () => pemOf(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey),
  'P-384': () => pemOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey),
  secp256k1: () => pemOf(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey),
  X25519: () => pemOf(generateKeyPairSync('x25519').publicKey),
  Ed448: () => pemOf(generateKeyPairSync('ed448').publicKey),
  'a point that is not on its curve': () =>
    JSON.stringify({ ...JSON.parse(examplePair().jwk), y: Buffer.alloc(32, 7).toString('base64url') }),
  'a certificate': () => examplePair().pem.replaceAll('PUBLIC KEY', 'CERTIFICATE'),
  'two keys': () => examplePair().pem + examplePair().pem,
  'half a key': () => examplePair().pem.replace(/.{40}\n-----END/, '\n-----END'),
  'an empty JWK': () => '{}',
  'a JWK of numbers': () => '{"kty":1,"n":2,"e":3}',
  'a JWK of nothing': () => 'null',
  'a JWK that is no JSON': () => '{"kty":"RSA"',
  'a JWK whose use is encryption': () => said({ use: 'enc' }),
  'a JWK whose operations verify nothing': () => said({ key_ops: ['encrypt', 'wrapKey'] }),
  'a JWK whose operations are no list': () => said({ key_ops: 'verify' }),
  'a JWK whose algorithm encrypts': () => said({ alg: 'ECDH-ES' }),
  'a JWK whose algorithm is that of another curve': () => said({ alg: 'ES384' }),
  text: () => 'my key',
  'base64 of nothing': () => 'AAAA',
  'many blanks': () => `-----BEGIN PUBLIC KEY-----${' '.repeat(9000)}`,
}

describe('an invalid public key is refused, and the error names the field:', () => {
  test.each(Object.keys(refused))('%s', async (what) => {
    const userId = await newMachine(home)
    const answer = await json('AddMachineKey', { userId, publicKey: refused[what]!() }, owner)
    expect(factsOf(answer)).toMatchObject({ code: 3, reason: 'VALIDATION_FAILED', fields: ['publicKey'] })
    expect(await listed(userId)).toBeUndefined()
  })

  test.each(names)('but not a JWK that says what it is used for: %s', async (name) => {
    const publicKey = said({ alg: name, use: 'sig', key_ops: ['verify'] }, name)
    ok(await json('AddMachineKey', { userId: await newMachine(home), publicKey }, owner))
  })

  test('a key of another algorithm than the named one', async () => {
    const request = {
      userId: await newMachine(home),
      publicKey: examplePair('EdDSA').pem,
      algorithm: 'KEY_ALGORITHM_ES256',
    }
    expect(factsOf(await json('AddMachineKey', request, owner)).fields).toEqual(['publicKey'])
  })

  test.each(names)('a private key for %s, which is neither stored nor repeated in the answer', async (name) => {
    const userId = await newMachine(home)
    const { privatePem, privateJwk } = examplePair(name)
    const secrets = [privatePem.split('\n')[1]!, privateJwk['d']!]
    for (const secret of secrets) recordSecret(secret)
    const jwk = JSON.stringify(privateJwk)
    for (const publicKey of [privatePem, jwk, btoa(privatePem), btoa(jwk)]) {
      const answer = await json('AddMachineKey', { userId, publicKey }, owner)
      const { violations } = factsOf(answer)
      expect(violations).toEqual([{ field: 'publicKey', description: expect.stringContaining('is a private key') }])
      for (const secret of secrets) expect(JSON.stringify(answer)).not.toContain(secret)
    }
    expect(await listed(userId)).toBeUndefined()
  })

  test('a private key that is sent as an object, which the answer does not repeat', async () => {
    const { privateJwk } = examplePair()
    recordSecret(privateJwk['d'])
    const response = await fetch(`${inject('roster').url}/management/v1/users/${await newMachine(home)}/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ publicKey: privateJwk }),
    })
    expect(response.status).toBe(400)
    expect(await response.text()).not.toContain(privateJwk['d'])
  })
})
