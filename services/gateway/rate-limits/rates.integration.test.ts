import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonValue } from '@bufbuild/protobuf'
import { callConnect, callGrpc, callGrpcWeb, callJson, type Caller, type Ending, send } from '../testing/test-client.ts'
import { startTestGateway, type TestCaller, type TestGateway } from '../testing/test-gateway.ts'

const users = 'roster.users.v1.UserService'
const removal = 'roster.grants.v1.UserGrantService.BulkRemoveUserGrants'
const settings = {
  WRITES_PER_CALLER: '2',
  WRITES_PER_MEMBER: '4',
  WRITES_PER_ORGANIZATION: '8',
  CALLS_PER_ADDRESS: '1',
  TRUSTED_PROXIES: '1',
}
let gateway: TestGateway
let served: string[]
/** The clock in milliseconds. A test moves it on. */
let now = 1000

beforeAll(async () => {
  const serve =
    (name: string) =>
    (_request: object, { caller }: { caller: { userId: string } }) => {
      served.push(`${name} ${caller.userId}`)
      return {}
    }
  const operations = Object.fromEntries(
    ['UpdateMyProfile', 'GetUser', 'VerifyEmail', 'BulkAddUsers'].map((name) => [`${users}.${name}`, serve(name)]),
  )
  gateway = await startTestGateway({ ...operations, [removal]: serve(removal) }, settings, () => now)
})
afterAll(() => gateway.stop())
beforeEach(() => {
  served = []
  // All use has worn off by then.
  now += 20_000
  gateway.backstage.asked.authenticate = 0
})

let made = 0
function newCaller(facts: Partial<TestCaller> = {}): string {
  const token = `token-${++made}`
  gateway.backstage.callers.set(token, { userId: token, organizationId: `home-${made}`, ...facts })
  return token
}
const memberOf = (organizationId: string) => ({ memberships: [{ organizationId, roles: ['ORG_OWNER_VIEWER'] }] })

function outcome({ status }: Ending): string {
  if (status === undefined) return 'ok'
  const { details } = status as { details: { reason?: string; metadata?: { limit: string } }[] }
  return [details[0]!.reason, details[0]!.metadata?.limit].filter(Boolean).join(' ')
}

function retryDelay({ status }: Ending): number {
  const { details } = status as { details: { retryDelay?: string }[] }
  return parseFloat(details.find(({ retryDelay: delay }) => delay !== undefined)!.retryDelay!)
}

const profile = { firstName: 'F', lastName: 'L', displayName: 'D' }
const requests: Record<string, Record<string, JsonValue>> = {
  UpdateMyProfile: profile,
  GetUser: { userId: 'u1' },
  VerifyEmail: { userId: 'u1', verificationCode: 'ABCDEF' },
}

const userManager = {
  organizationId: 'home',
  memberships: [{ organizationId: 'home', roles: ['ORG_USER_MANAGER'] }],
}
const machines = (items: number) => ({
  users: Array.from({ length: items }, (_, n) => ({ machine: { userName: `u${n}`, name: 'M' } })),
})

const encodings: Caller[] = [callJson, callGrpc, callGrpcWeb, callConnect]

describe('over json', () => {
  const call: Caller = callJson
  const one = (token: string, name = 'UpdateMyProfile', metadata: Record<string, string> = {}) =>
    call(gateway.url, `${users}.${name}`, requests[name]!, { authorization: `Bearer ${token}`, ...metadata })

  /** How many of `count` calls passed. Every other call must be refused for this limit. */
  async function passed(count: number, limit: string, each: (n: number) => Promise<Ending>): Promise<number> {
    const outcomes = (await Promise.all(Array.from({ length: count }, (_, n) => each(n)))).map(outcome)
    const refused = outcomes.filter((text) => text.startsWith('RATE_LIMITED'))
    expect(new Set(refused)).toEqual(refused.length > 0 ? new Set([`RATE_LIMITED ${limit}`]) : new Set())
    return count - refused.length
  }

  test('a caller without roles writes up to the limit, and a refused call reaches no service', async () => {
    const token = newCaller()
    expect(await passed(30, 'caller', () => one(token))).toBe(20)
    expect(served).toHaveLength(20)
    now += 1000
    expect(await passed(5, 'caller', () => one(token))).toBe(2)
  })

  test('a caller with a role in any organization writes up to the limit of such callers', async () => {
    const token = newCaller(memberOf('elsewhere'))
    expect(await passed(45, 'caller', () => one(token))).toBe(40)
  })

  test.each<[string, (items: number) => Record<string, JsonValue>]>([
    [`${users}.BulkAddUsers`, machines],
    [removal, (items) => ({ grantIds: Array<string>(items).fill('g') })],
    // Another name of the list.
    [removal, (items) => ({ userGrantIds: Array<string>(items).fill('g') })],
  ])('each item of a bulk counts as a call, and a refused bulk reaches no service: %s', async (name, request) => {
    const token = newCaller(userManager)
    const bulk = (items: number) => call(gateway.url, name, request(items), { authorization: `Bearer ${token}` })
    for (let n = 0; n < 4; n++) expect(outcome(await bulk(9))).toBe('ok')
    expect(outcome(await bulk(9))).toBe('RATE_LIMITED caller')
    expect(served).toHaveLength(4)
    // The refused bulk counted as one call.
    expect(await passed(15, 'caller', () => one(token))).toBe(3)
  })

  test('a bulk may have ten times the values of others, which count before they are read', async () => {
    const token = newCaller(userManager)
    const headers = { authorization: `Bearer ${token}` }
    const many = { users: Array.from({ length: 1000 }, () => ({ machine: { userName: 'u', name: 'n' } })) }
    expect(outcome(await call(gateway.url, `${users}.BulkAddUsers`, many, headers))).toBe('ok')
    const huge = { users: Array.from({ length: 11_000 }, () => ({ machine: {} })) }
    expect(outcome(await call(gateway.url, `${users}.BulkAddUsers`, huge, headers))).toBe('REQUEST_TOO_LARGE')
    expect(outcome(await call(gateway.url, `${users}.BulkAddUsers`, huge, headers))).toBe('RATE_LIMITED caller')
  })

  test('reads are counted by themselves, and may be ten times as many', async () => {
    const token = newCaller()
    expect(await passed(21, 'caller', () => one(token))).toBe(20)
    expect(await passed(205, 'caller', () => one(token, 'GetUser'))).toBe(200)
    now += 1000
    expect(await passed(25, 'caller', () => one(token, 'GetUser'))).toBe(20)
  })

  test('an owner of the instance has no limit', async () => {
    expect(await passed(120, 'caller', () => one('admin'))).toBe(120)
  })

  test('several tokens, encodings and acting organizations of a caller are one caller', async () => {
    const userId = newCaller()
    const memberships = [{ organizationId: 'away', roles: ['ORG_OWNER'] }]
    const tokens = Array.from({ length: 4 }, () => newCaller({ userId, organizationId: 'shared', memberships }))
    gateway.backstage.callers.delete(userId)
    const all = (n: number) =>
      encodings[n % 4]!(gateway.url, `${users}.UpdateMyProfile`, profile, {
        authorization: `Bearer ${tokens[n % 4]}`,
        ...(n % 3 === 0 && { 'x-service-orgid': 'away' }),
      })
    expect(await passed(50, 'caller', all)).toBe(40)
  })

  test('a call passes after the time that its refusal names', async () => {
    const token = newCaller()
    for (let round = 0; round < 3; round++) {
      await passed(25, 'caller', () => one(token))
      const seconds = retryDelay(await one(token))
      expect(seconds).toBeGreaterThan(0)
      now += seconds * 1000
      expect(outcome(await one(token))).toBe('ok')
    }
  })

  test('callers of an organization share its limit, and one that takes less than its share is served at full load', async () => {
    const greedy = Array.from({ length: 6 }, () => newCaller({ organizationId: `full-${call.name}`, ...memberOf('x') }))
    const modest = newCaller({ organizationId: `full-${call.name}` })
    const fill = () => passed(120, 'organization', (n) => one(greedy[n % 6]!))
    const inAll = await fill()
    expect(inAll).toBeGreaterThan(60)
    expect(inAll).toBeLessThan(80)
    for (let second = 0; second < 5; second++) {
      expect(outcome(await one(modest))).toBe('ok')
      now += 1000
      // The use of the modest caller is part of it.
      expect(await fill()).toBeLessThanOrEqual(9)
    }
  })

  test('a guest’s calls count against the organization that the guest belongs to', async () => {
    const hosts = `hosts-${call.name}`
    const guests = Array.from({ length: 6 }, () =>
      newCaller({ organizationId: `guests-${call.name}`, ...memberOf(hosts) }),
    )
    await passed(120, 'organization', (n) => one(guests[n % 6]!, 'UpdateMyProfile', { 'x-service-orgid': hosts }))
    const member = newCaller({ organizationId: hosts })
    expect(await passed(20, 'none', () => one(member))).toBe(20)
  })

  test('an address calls public methods up to the limit, and other addresses go on', async () => {
    const from = (address: string) => one('', 'VerifyEmail', { 'x-forwarded-for': address })
    expect(await passed(14, 'address', (n) => from(`198.51.100.1:${n}`))).toBe(10)
    expect(outcome(await from('198.51.100.2'))).toBe('ok')
    expect(await passed(14, 'address', (n) => from(`[2001:db8:1:2::${n}]:${n}`))).toBe(10)
    expect(outcome(await from('2001:db8:1:3::1'))).toBe('ok')
    const seconds = retryDelay(await from('198.51.100.1'))
    now += seconds * 1000
    expect(outcome(await from('198.51.100.1'))).toBe('ok')
    expect(await passed(40, 'address', () => from('127.0.0.1'))).toBe(40)
  })

  test('an address has a key for each hundredth call of a public method, because answers are kept', async () => {
    const from = (key?: string) => {
      const headers = { 'x-forwarded-for': '198.51.100.3', ...(key && { 'idempotency-key': key }) }
      now += 1000
      return one('', 'VerifyEmail', headers)
    }
    expect(await passed(14, 'address', (n) => from(`${call.name}-${n}`))).toBe(10)
    expect(outcome(await from())).toBe('ok')
    now += retryDelay(await from('late')) * 1000
    expect(outcome(await from('later'))).toBe('ok')
    now += 1_000_000
  })

  test('after too many false tokens, an address reaches no service with more, and a known caller there goes on', async () => {
    const from = (token: string) => one(token, 'UpdateMyProfile', { 'x-forwarded-for': '198.51.100.7' })
    const [known, unknown] = [newCaller(), newCaller()]
    expect(outcome(await from(known))).toBe('ok')
    for (let n = 0; n < 10; n++) expect(outcome(await from(`none-${call.name}-${n}`))).toBe('TOKEN_INVALID')
    const { authenticate } = gateway.backstage.asked
    expect(await passed(5, 'address', (n) => from(`more-${call.name}-${n}`))).toBe(0)
    expect(outcome(await from(unknown))).toBe('RATE_LIMITED address')
    expect(outcome(await from(known))).toBe('ok')
    expect(gateway.backstage.asked.authenticate).toBe(authenticate)
    now += 1000
    expect(outcome(await from(unknown))).toBe('ok')
  })

  test('a false token is refused before the limit is, and wrong or forbidden calls count too', async () => {
    const token = newCaller()
    await passed(20, 'caller', () => one(token))
    expect(outcome(await one(`bad-${token}`))).toBe('TOKEN_INVALID')
    const wrong: Record<string, string>[] = [{ 'x-service-orgid': 'nowhere' }, { 'if-match': 'nonsense' }]
    for (const headers of wrong)
      expect(outcome(await one(token, 'UpdateMyProfile', headers))).toBe('RATE_LIMITED caller')
    const other = newCaller()
    for (let n = 0; n < 20; n++)
      expect(outcome(await one(other, 'UpdateMyProfile', { 'if-match': 'x' }))).toBe('IF_MATCH_MALFORMED')
    expect(outcome(await one(other))).toBe('RATE_LIMITED caller')
    const foreign = newCaller()
    for (let n = 0; n < 20; n++)
      expect(outcome(await one(foreign, 'UpdateMyProfile', { 'x-service-orgid': 'nowhere' }))).toBe('PERMISSION_DENIED')
    expect(outcome(await one(foreign))).toBe('RATE_LIMITED caller')
  })
})

test('the refusal is 429 with Retry-After in HTTP, and temporarily_unavailable in OAuth', async () => {
  const headers = { authorization: `Bearer ${newCaller()}`, 'content-type': 'application/json' }
  const path = '/auth/v1/users/me/profile'
  const put = () => send(gateway.url, { method: 'PUT', path, headers, body: JSON.stringify(profile) })
  for (let n = 0; n < 20; n++) expect((await put()).status).toBe(200)
  expect(await put()).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': '198.51.100.9' }
  const token = () =>
    send(gateway.url, { method: 'POST', path: '/oauth/v2/token', headers: form, body: 'grant_type=x' })
  // Such calls cost a tenth of others.
  for (let n = 0; n < 100; n++) expect((await token()).status).not.toBe(429)
  const refused = await token()
  expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
  expect(JSON.parse(refused.body)).toMatchObject({ error: 'temporarily_unavailable' })
})

test('paths that do not exist, pages and calls without a token count on their address, as reads; probes do not', async () => {
  const from = { headers: { 'x-forwarded-for': '203.0.113.77' } }
  const ask = async (path: string) => (await fetch(gateway.url + path, from)).status
  const paths = ['/nothing', '/docs', '/auth/v1/users/me', '/oauth/v2/nothing']
  // Ten seconds' worth of ten reads each.
  for (let n = 0; n < 100; n++) expect(await ask(paths[n % paths.length]!)).not.toBe(429)
  for (const path of paths) expect([path, await ask(path)]).toEqual([path, 429])
  expect([await ask('/healthz'), await ask('/readyz')]).toEqual([200, 200])
})
