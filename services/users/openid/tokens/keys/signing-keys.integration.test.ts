import { compactVerify, createLocalJWKSet, type JWK, decodeProtectedHeader, jwtVerify } from 'jose'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { rewrapKeys } from '#lib/encryption/rewrap-keys'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { openUsers, type TestUsers } from '../../../testing/test-users.ts'

let database: TestDatabase
let replicas: TestUsers[]

beforeEach(async () => {
  database = await createDatabase()
  replicas = await Promise.all([1, 2, 3].map(() => openUsers(database.urls.users)))
})

afterEach(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()))
  await database.drop()
})

const refresh = () => Promise.all(replicas.map(({ signingKeys }) => signingKeys.refresh()))
const published = () => replicas.map(({ signingKeys }) => signingKeys.published().map(({ kid }) => kid))
const signers = async () =>
  new Set(
    await Promise.all(replicas.map(async ({ signingKeys }) => decodeProtectedHeader(await signingKeys.sign({})).kid)),
  )
/** Moves all keys back, as if so many seconds had passed. */
const pass = (seconds: number) =>
  replicas[0]!.sql`update signing_keys set signs_from = signs_from - make_interval(secs => ${seconds})`
const day = 86_400

test('replicas that start at once make one key, and each verifies what the others sign', async () => {
  expect(new Set(published().flat()).size).toBe(1)
  for (const { signingKeys: signer } of replicas)
    for (const { signingKeys: publisher } of replicas) {
      const keys = createLocalJWKSet({ keys: publisher.published() as JWK[] })
      const { protectedHeader } = await jwtVerify(await signer.sign({ sub: 'x' }), keys, { typ: 'at+jwt' })
      expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'at+jwt' })
    }
})

test('the next key is made once and published before it signs; the former stays while its tokens live', async () => {
  const [first] = await signers()
  await pass(90 * day - 3000)
  await refresh()
  const [, second] = published()[0]!
  expect(published()).toEqual(replicas.map(() => [first, second]))
  expect(await signers()).toEqual(new Set([first]))
  await pass(3601)
  await refresh()
  expect(await signers()).toEqual(new Set([second]))
  expect(published()).toEqual(replicas.map(() => [first, second]))
  // Old keys are removed only at the next rotation, so this one may stay longer.
  await pass(90 * day)
  await refresh()
  expect(published()[0]).toHaveLength(2)
  expect(published()[0]).not.toContain(first)
  expect(published()[0]).toContain(second)
})

test('another algorithm signs only after its key was published', async () => {
  const other = await openUsers(database.urls.users, { ACCESS_TOKEN_ALGORITHM: 'EdDSA' })
  replicas.push(other)
  expect(other.signingKeys.published().map(({ alg }) => alg)).toEqual(['ES256', 'EdDSA'])
  expect(decodeProtectedHeader(await other.signingKeys.sign({})).alg).toBe('ES256')
  await pass(3601)
  await other.signingKeys.refresh()
  expect(decodeProtectedHeader(await other.signingKeys.sign({})).alg).toBe('EdDSA')
})

test.each(['ES256', 'EdDSA', 'RS256'])(
  '%s: a receipt verifies by the published key; no private key is published, nor stored in the clear',
  async (algorithm) => {
    await replicas[0]!.sql`delete from signing_keys`
    const other = await openUsers(database.urls.users, { ACCESS_TOKEN_ALGORITHM: algorithm })
    replicas.push(other)
    const [key] = other.signingKeys.published()
    const receipt = other.signingKeys.signReceipt({ for: 'u' })
    const { payload } = await compactVerify(receipt, createLocalJWKSet({ keys: [key as JWK] }))
    expect(Buffer.from(payload).toString()).toBe('{"for":"u"}')
    expect(key).toMatchObject({ alg: algorithm, use: 'sig', kid: expect.any(String) })
    for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi']) expect(key).not.toHaveProperty(secret)
    const [row] = await other.sql`select private_key from signing_keys`
    expect((row!['private_key'] as Buffer).toString('latin1')).not.toContain('"kty"')
  },
)

test('if the encryption key is lost, a new signing key signs at once', async () => {
  const [first] = await signers()
  await replicas[0]!.sql`delete from sealing`
  const other = await openUsers(database.urls.users, { ROSTER_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64') })
  replicas.push(other)
  expect(decodeProtectedHeader(await other.signingKeys.sign({})).kid).not.toBe(first)
  expect(other.signingKeys.published().map(({ kid }) => kid)).toContain(first)
})

test('a signing key goes on signing after the encryption key was replaced and the old one is gone', async () => {
  await replicas[0]!.sql`delete from signing_keys`
  await replicas[0]!.sql`delete from sealing`
  const [old, current] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'))
  const kids: (string | undefined)[] = []
  for (const ROSTER_ENCRYPTION_KEY of [old!, `${current},${old}`, current!]) {
    const other = await openUsers(database.urls.users, { ROSTER_ENCRYPTION_KEY })
    replicas.push(other)
    kids.push(decodeProtectedHeader(await other.signingKeys.sign({})).kid)
    await rewrapKeys(other.sql, other.keys, other.log, AbortSignal.timeout(10_000))
  }
  expect(new Set(kids).size).toBe(1)
})
