import { createLocalJWKSet, decodeProtectedHeader, type JWK, jwtVerify, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { getSigningKeys } from '../../../internal/get-signing-keys.ts'
import { getServerMetadata } from '../../operations/get-server-metadata.ts'
import { listSigningKeys } from '../../operations/list-signing-keys.ts'
import { openUsers, type TestUsers } from '../../../testing/test-users.ts'
import { type Hint, readHint, signIdToken } from '../id-token.ts'
import { idTokenAlgorithms } from './id-token-keys.ts'
import { issuerOf } from '../../../directory/issuer.ts'

let database: TestDatabase
let replicas: TestUsers[]
let users: TestUsers

beforeAll(async () => {
  database = await createDatabase()
  replicas = await Promise.all([1, 2].map(() => openUsers(database.urls.users)))
  users = replicas[0]!
})
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()))
  await database.drop()
})
// Each test has keys as of a first start.
beforeEach(async () => {
  await users.sql`delete from id_token_keys`
  await refresh()
})

const refresh = () => Promise.all(replicas.map(({ idTokenKeys }) => idTokenKeys.refresh()))
/** Moves all keys back, as if so many seconds had passed. */
const pass = (seconds: number) =>
  users.sql`update id_token_keys set signs_from = signs_from - make_interval(secs => ${seconds})`
const kids = () => replicas.map(({ idTokenKeys }) => idTokenKeys.published().map(({ kid }) => kid))
const about = { sub: 'ada', aud: 'app', sid: 'session' }
const published = async () => createLocalJWKSet({ keys: (await listSigningKeys(users, {})).keys as JWK[] })
type Algorithm = (typeof idTokenAlgorithms)[number]
const sign = (algorithm: Algorithm = 'ES256', by = users) =>
  signIdToken(by, algorithm, about, Math.floor(Date.now() / 1000))
const kidOf = async (algorithm: Algorithm, by = users) => decodeProtectedHeader(await sign(algorithm, by)).kid!
const [day, hour] = [86_400, 3600]

test.each(idTokenAlgorithms)('replicas that start at once sign by one key of %s, which the list has', async (alg) => {
  const texts = await Promise.all(replicas.map((replica) => sign(alg, replica)))
  const jwks = await published()
  for (const text of texts) {
    const { payload, protectedHeader } = await jwtVerify(text, jwks, {
      issuer: issuerOf(users.config),
      audience: 'app',
    })
    expect(protectedHeader).toEqual({ alg, kid: protectedHeader.kid, typ: 'JWT' })
    expect(payload).toMatchObject(about)
    expect(payload.exp! - payload.iat!).toBe(hour)
  }
  expect(new Set(texts.map((text) => decodeProtectedHeader(text).kid)).size).toBe(1)
  expect((await getServerMetadata(users, {})).idTokenSigningAlgValuesSupported).toContain(alg)
})

test('access tokens are checked by other keys, and no private half is published or stored in the clear', async () => {
  const own = new Set(kids()[0])
  expect(own.size).toBe(4)
  expect((await getSigningKeys(users, {})).keys.filter(({ kid }) => own.has(kid))).toEqual([])
  for (const key of users.idTokenKeys.published())
    for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi']) expect(key).not.toHaveProperty(secret)
  for (const { private_key } of await users.sql`select private_key from id_token_keys`)
    expect((private_key as Buffer).toString('latin1')).not.toContain('"kty"')
})

test('the next keys are published an hour before they sign, and the former ones while their tokens live', async () => {
  const token = await sign('PS256')
  const first = decodeProtectedHeader(token).kid!
  await pass(90 * day - 3000)
  await refresh()
  expect(kids()[0]).toHaveLength(8)
  expect(kids()[1]).toEqual(kids()[0])
  expect(await kidOf('PS256', replicas[1])).toBe(first)
  // As of an application that keeps the list for an hour.
  const kept = await published()
  await pass(3601)
  await refresh()
  const next = await sign('PS256')
  const second = decodeProtectedHeader(next).kid!
  expect(second).not.toBe(first)
  expect(kids()[0]).toContain(first)
  for (const text of [token, next])
    for (const list of [kept, await published()]) await jwtVerify(text, list, { audience: 'app' })
  await pass(90 * day)
  await refresh()
  expect(kids()[0]).not.toContain(first)
  expect(kids()[0]).toContain(second)
  await expect(jwtVerify(token, await published())).rejects.toThrow('no applicable key')
  await jwtVerify(next, await published(), { audience: 'app' })
})

test('an ID token is a hint after its end and 400 days after its key left the list, without a private half', async () => {
  const old = await sign()
  const { kid } = decodeProtectedHeader(old)
  const rotate = async () => {
    await pass(90 * day)
    await refresh()
  }
  await rotate()
  await pass(3601)
  await rotate()
  const [kept] = await users.sql`select private_key from id_token_keys where kid = ${kid!}`
  expect(kept).toEqual({ private_key: null })
  expect(await readHint(users, old, 'app')).toEqual(about)
  await pass(310 * day)
  await refresh()
  expect(await readHint(users, old, 'app')).toEqual(about)
  await pass(90 * day)
  await refresh()
  expect(await readHint(users, old, 'app')).toBeUndefined()
})

test('a hint is an ID token of ours, and where a client is named, one of that client', async () => {
  const text = await sign()
  const hint = (candidate: string, clientId?: string): Promise<Hint | undefined> => readHint(users, candidate, clientId)
  expect(await hint(text)).toEqual(about)
  expect(await hint(text, 'app')).toEqual(about)
  expect(await hint(text, 'other')).toBeUndefined()
  const { kid } = decodeProtectedHeader(text)
  const claims = { iss: issuerOf(users.config), ...about }
  const bySecret = new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: kid!, typ: 'JWT' })
  const parts = text.split('.')
  const forged = [
    'no hint',
    `${parts[0]}.${Buffer.from(JSON.stringify({ ...claims, sub: 'eve' })).toString('base64url')}.${parts[2]}`,
    `${parts[0]}.${parts[1]}.`,
    await bySecret.sign(Buffer.from(JSON.stringify(await users.idTokenKeys.find(kid!)))),
    await users.idTokenKeys.sign('ES256', 'logout+jwt', claims),
    await users.idTokenKeys.sign('ES256', 'JWT', { ...claims, iss: 'https://former.example.com' }),
    await users.idTokenKeys.sign('ES256', 'JWT', { ...claims, aud: ['app', 'other'] }),
    await users.signingKeys.sign(claims),
  ]
  for (const candidate of forged) expect(await hint(candidate), candidate).toBeUndefined()
})
