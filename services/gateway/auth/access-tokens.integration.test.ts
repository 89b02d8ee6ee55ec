import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { callJson } from '../testing/test-client.ts'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

const getUser = 'roster.users.v1.UserService.GetUser'
const getSigningKeys = 'roster.users.v1.InternalService.GetSigningKeys'
const issuer = 'https://id.example.com'
let gateway: TestGateway
let published: { kid: string; key: Awaited<ReturnType<typeof makeKey>> }[]
let asked = 0

beforeAll(async () => {
  published = [{ kid: 'first', key: await makeKey() }]
  gateway = await startTestGateway({
    [getUser]: () => ({}),
    async [getSigningKeys]() {
      asked++
      const keys = published.map(async ({ kid, key }) => ({
        ...(await exportJWK(key.publicKey)),
        use: 'sig',
        alg: 'ES256',
        kid,
      }))
      return { issuer, keys: (await Promise.all(keys)) as { kty: string }[] }
    },
  })
})
afterAll(() => gateway.stop())
beforeEach(() => Object.assign(gateway.backstage.asked, { authenticate: 0 }))

const makeKey = () => generateKeyPair('ES256')
const now = () => Math.floor(Date.now() / 1000)
let tokens = 0

async function sign({ claims = {}, header = {}, by = published[0]!.key }: Signed = {}) {
  const own = {
    iss: issuer,
    aud: [issuer],
    sub: 'robot',
    client_id: 'robot',
    jti: `${++tokens}`,
    iat: now(),
    exp: now() + 60,
  }
  const token = await new SignJWT({ ...own, ...claims })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'first', ...header })
    .sign(by.privateKey)
  gateway.backstage.callers.set(token, { userId: 'robot', organizationId: 'home', instanceRoles: ['IAM_OWNER'] })
  return token
}

interface Signed {
  claims?: object
  header?: object
  by?: Awaited<ReturnType<typeof makeKey>>
}

async function call(token: string) {
  const { status } = await callJson(gateway.url, getUser, { userId: 'u' }, { authorization: `Bearer ${token}` })
  return status === undefined ? 'ok' : (status as { details: { reason: string }[] }).details[0]!.reason
}

test('a JWT that we signed is looked up, once, and the keys are asked for once', async () => {
  const all = [await sign(), await sign(), await sign()]
  for (const token of [...all, ...all]) expect(await call(token)).toBe('ok')
  expect(gateway.backstage.asked.authenticate).toBe(3)
  expect(asked).toBe(1)
})

test('a JWT that we signed and that is not stored is refused', async () => {
  const token = await sign()
  gateway.backstage.callers.delete(token)
  expect(await call(token)).toBe('TOKEN_INVALID')
})

const refused: { what: string; token: () => Promise<string> }[] = [
  { what: 'of another issuer', token: () => sign({ claims: { iss: 'https://evil.example.com' } }) },
  { what: 'of another type', token: () => sign({ header: { typ: 'JWT' } }) },
  { what: 'without a type', token: () => sign({ header: { typ: undefined } }) },
  { what: 'by another key', token: async () => sign({ by: await makeKey() }) },
  { what: 'that has expired', token: () => sign({ claims: { exp: now() - 31 } }) },
  { what: 'without an end', token: () => sign({ claims: { exp: undefined } }) },
  { what: 'that has not begun', token: () => sign({ claims: { nbf: now() + 60 } }) },
  { what: 'without a jti', token: () => sign({ claims: { jti: undefined } }) },
]

test.each(refused)('a JWT $what is refused without asking a service', async ({ token }) => {
  expect(await call(await token())).toBe('TOKEN_INVALID')
  expect(gateway.backstage.asked.authenticate).toBe(0)
})

test('tokens of many unknown keys make the gateway ask for the keys once in ten seconds', async () => {
  const before = asked
  for (let n = 0; n < 20; n++) expect(await call(await sign({ header: { kid: `unknown-${n}` } }))).toBe('TOKEN_INVALID')
  expect(asked - before).toBeLessThanOrEqual(1)
})

test('a key that is new counts at once, and one that was removed five minutes later at the latest', async () => {
  const [former] = published
  onTestFinished(() => {
    vi.useRealTimers()
    published = [former!]
  })
  const begin = Date.now()
  const at = (seconds: number) => vi.useFakeTimers({ toFake: ['Date'], now: begin + seconds * 1000 })
  const byFormer = () => sign({ by: former!.key, claims: { exp: now() + 3600 } })
  at(600)
  expect(await call(await byFormer())).toBe('ok')
  published = [{ kid: 'second', key: await makeKey() }, former!]
  at(620)
  expect(await call(await sign({ header: { kid: 'second' } }))).toBe('ok')
  published = published.slice(0, 1)
  expect(await call(await byFormer())).toBe('ok')
  at(921)
  expect(await call(await byFormer())).toBe('TOKEN_INVALID')
  expect(await call(await sign({ header: { kid: 'second' } }))).toBe('ok')
})

test('without the service that has the keys, a JWT is neither accepted nor refused', async () => {
  const other = await startTestGateway({ [getUser]: () => ({}) })
  try {
    const { status } = await callJson(other.url, getUser, { userId: 'u' }, { authorization: `Bearer ${await sign()}` })
    expect((status as { code: number }).code).toBe(14)
  } finally {
    await other.stop()
  }
})
