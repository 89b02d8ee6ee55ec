import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Call } from '#lib/rpc/headers'
import { callersChanged, everybodyOf } from '#lib/events/hints'
import { callConnect, callGrpc, callGrpcWeb, callGrpcWebText, callJson } from '../testing/test-client.ts'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

const setEmail = 'roster.users.v1.UserService.SetEmail'
let gateway: TestGateway
let calls: Call[]

beforeAll(async () => {
  gateway = await startTestGateway({
    [setEmail]: (_request, call) => {
      calls.push(call)
      return {}
    },
  })
})
afterAll(() => gateway.stop())
beforeEach(() => {
  calls = []
  Object.assign(gateway.backstage.asked, { authenticate: 0, listMemberships: 0, lookupOrganization: 0 })
  gateway.backstage.beforeAuthenticated = () => Promise.resolve()
})

let tokens = 0
function newToken(caller: Parameters<TestGateway['backstage']['callers']['set']>[1]) {
  const token = `token-${++tokens}`
  gateway.backstage.callers.set(token, caller)
  return token
}

const owner = { userId: 'owner', organizationId: 'home', instanceRoles: ['IAM_OWNER'] }

async function call(token: string, metadata: Record<string, string> = {}) {
  const request = { userId: 'u1', email: 'a@example.com' }
  const ending = await callJson(gateway.url, setEmail, request, { authorization: `Bearer ${token}`, ...metadata })
  return ending.status === undefined ? 'ok' : (ending.status as { details: { reason: string }[] }).details[0]!.reason
}

async function announce(userId: string) {
  gateway.nats.users.connection.publish(callersChanged, userId)
  await gateway.nats.users.connection.flush()
  await new Promise((resolve) => setTimeout(resolve, 50))
}

test('a caller is looked up once for many calls', async () => {
  const token = newToken(owner)
  expect(await Promise.all(Array.from({ length: 20 }, () => call(token)))).toEqual(Array(20).fill('ok'))
  expect(await call(token)).toBe('ok')
  expect(gateway.backstage.asked).toMatchObject({ authenticate: 1, listMemberships: 1 })
})

test('the scheme of a token is read in any case', async () => {
  newToken(owner)
  expect(await call('', { authorization: `bearer   token-${tokens}` })).toBe('ok')
})

test('an announcement ends a token at once', async () => {
  const [token, other] = [newToken(owner), newToken({ ...owner, userId: 'other' })]
  expect([await call(token), await call(other)]).toEqual(['ok', 'ok'])
  gateway.backstage.callers.delete(token)
  expect(await call(token)).toBe('ok')
  await announce('owner')
  expect(await call(token)).toBe('TOKEN_INVALID')
  const { authenticate } = gateway.backstage.asked
  expect(await call(other)).toBe('ok')
  expect(gateway.backstage.asked.authenticate).toBe(authenticate)
})

test('an announcement changes roles at once', async () => {
  const token = newToken({
    userId: 'manager',
    organizationId: 'home',
    memberships: [{ organizationId: 'home', roles: ['ORG_OWNER'] }],
  })
  expect(await call(token)).toBe('ok')
  gateway.backstage.callers.set(token, { userId: 'manager', organizationId: 'home' })
  await announce('manager')
  expect(await call(token)).toBe('PERMISSION_DENIED')
})

test('an announcement about an organization refuses its users and drops roles there, and no others', async () => {
  const [inside, elsewhere] = [
    { ...owner, userId: 'inside', organizationId: 'acme' },
    { ...owner, userId: 'elsewhere' },
  ]
  const memberships = ['home', 'acme'].map((organizationId) => ({ organizationId, roles: ['ORG_OWNER'] }))
  const guest = { userId: 'guest', organizationId: 'home', memberships }
  const [ofAcme, ofOther, ofGuest] = [newToken(inside), newToken(elsewhere), newToken(guest)]
  const there = { 'x-service-orgid': 'acme' }
  gateway.backstage.organizations.add('acme')
  expect([await call(ofAcme), await call(ofOther, there), await call(ofGuest)]).toEqual(['ok', 'ok', 'ok'])
  gateway.backstage.closed.add('acme')
  gateway.backstage.organizations.delete('acme')
  await announce(everybodyOf('acme'))
  const { listMemberships } = gateway.backstage.asked
  expect(await call(ofOther)).toBe('ok')
  expect(gateway.backstage.asked.listMemberships).toBe(listMemberships)
  expect(await call(ofAcme)).toBe('TOKEN_INVALID')
  expect(await call(ofGuest)).toBe('ok')
  expect(gateway.backstage.asked.listMemberships).toBe(listMemberships + 1)
  expect(await call(ofOther, there)).toBe('PERMISSION_DENIED')
  gateway.backstage.closed.delete('acme')
  await announce(everybodyOf('acme'))
  expect(await call(ofAcme)).toBe('ok')
})

test('an announcement about an organization has each token of its users looked up again, and those of no others', async () => {
  const people = ['acme', 'home'].map((organizationId) => ({ userId: `of-${organizationId}`, organizationId }))
  const [ofAcme, ofHome] = people.map(newToken) as [string, string]
  expect(await Promise.all([call(ofAcme), call(ofHome)])).not.toContain('TOKEN_INVALID')
  // Its session ended while the organization was closed.
  for (const token of [ofAcme, ofHome]) gateway.backstage.callers.delete(token)
  await announce(everybodyOf('acme'))
  expect(await call(ofAcme)).toBe('TOKEN_INVALID')
  expect(await call(ofHome)).not.toBe('TOKEN_INVALID')
})

test('a lookup that an announcement overtook is not cached, and no later call joins it', async () => {
  const [token] = [newToken({ ...owner, userId: 'raced' }), newToken({ ...owner, userId: 'raced' })]
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: started, resolve: start } = Promise.withResolvers<void>()
  gateway.backstage.beforeAuthenticated = () => {
    start()
    return released
  }
  const early = call(token)
  await started
  gateway.backstage.callers.delete(token)
  await announce('raced')
  gateway.backstage.beforeAuthenticated = () => Promise.resolve()
  expect(await call(token)).toBe('TOKEN_INVALID')
  release()
  expect(await early).toBe('ok')
  expect(await call(token)).toBe('TOKEN_INVALID')
})

test('a request whose body comes after its token has ended is refused', async () => {
  const token = newToken({ ...owner, userId: 'dawdler' })
  const socket = connect(gateway.port, '127.0.0.1')
  const head = `POST /v2/users/u1/email HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${token}\r\n`
  socket.write(`${head}content-type: application/json\r\ncontent-length: 26\r\n\r\n{"email":`)
  await expect.poll(() => gateway.backstage.asked.listMemberships).toBe(1)
  gateway.backstage.callers.delete(token)
  await announce('dawdler')
  await sleep(1000)
  socket.write('"a@example.com" }')
  expect(await text(socket)).toContain('TOKEN_INVALID')
  expect(calls).toEqual([])
})

test('a token is not cached past its end', async () => {
  const token = newToken({ ...owner, userId: 'brief', expirationDate: new Date(Date.now() + 400).toISOString() })
  expect(await call(token)).toBe('ok')
  gateway.backstage.callers.delete(token)
  await new Promise((resolve) => setTimeout(resolve, 450))
  expect(await call(token)).toBe('TOKEN_INVALID')
})

test('an announcement of what a token stands on ends it at once, and no other token of the user', async () => {
  const standing = ['@umbrella', 'application/a', 'project/p']
  for (const one of standing) {
    const person = { ...owner, userId: `on-${one}` }
    const [token, other] = [newToken({ ...person, standsOn: standing }), newToken(person)]
    expect([await call(token), await call(other)]).toEqual(['ok', 'ok'])
    gateway.backstage.callers.delete(token)
    expect(await call(token)).toBe('ok')
    await announce(one)
    expect(await call(token)).toBe('TOKEN_INVALID')
    const { authenticate } = gateway.backstage.asked
    expect(await call(other)).toBe('ok')
    expect(gateway.backstage.asked.authenticate).toBe(authenticate)
  }
})

test('what may end without an announcement is asked for again after a second', async () => {
  const token = newToken({ ...owner, userId: 'checked', brief: true })
  expect(await call(token)).toBe('ok')
  gateway.backstage.callers.delete(token)
  await expect.poll(() => call(token), { timeout: 5000 }).toBe('TOKEN_INVALID')
})

test('a lost connection to the broker empties the cache: an announcement may have been missed', async () => {
  const token = newToken({ ...owner, userId: 'offline' })
  expect(await call(token)).toBe('ok')
  await gateway.broker.kill()
  expect(await call(token)).toBe('BROKER_UNAVAILABLE')
  gateway.backstage.callers.delete(token)
  await gateway.broker.restart()
  await expect.poll(() => call(token), { timeout: 10_000 }).toBe('TOKEN_INVALID')
  await announce('unknown')
  const other = newToken({ ...owner, userId: 'back' })
  await expect.poll(() => call(other), { timeout: 10_000 }).toBe('ok')
  gateway.backstage.callers.delete(other)
  await announce('back')
  expect(await call(other)).toBe('TOKEN_INVALID')
})

test('a call that gives up while its caller is looked up does not end the lookup for others', async () => {
  const token = newToken({ ...owner, userId: 'slow' })
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  gateway.backstage.beforeAuthenticated = () => released
  const impatient = call(token, { 'x-request-timeout': '0.1' })
  const patient = call(token)
  expect(await impatient).toBe('DEADLINE_EXCEEDED')
  release()
  expect(await patient).toBe('ok')
  expect(gateway.backstage.asked.authenticate).toBe(1)
})

test('the acting organization is the caller’s own unless x-service-orgid names another', async () => {
  const token = newToken({ ...owner, userId: 'everywhere' })
  await call(token)
  await call(token, { 'x-service-orgid': '' })
  await call(token, { 'x-service-orgid': 'home' })
  await call(token, { 'x-service-orgid': 'away' })
  await call(token, { 'x-service-orgid': 'away' })
  expect(calls.map(({ organizationId }) => organizationId)).toEqual(['home', 'home', 'home', 'away', 'away'])
  expect(gateway.backstage.asked.lookupOrganization).toBe(1)
})

describe.each([
  ['json', callJson],
  ['grpc', callGrpc],
  ['grpc-web', callGrpcWeb],
  ['grpc-web-text', callGrpcWebText],
  ['connect', callConnect],
])('over %s x-zitadel-orgid', (_encoding, callBy) => {
  const ask = async (headers: Record<string, string>, token = newToken({ ...owner, userId: 'everywhere' })) =>
    callBy(
      gateway.url,
      setEmail,
      { userId: 'u1', email: 'a@example.com' },
      { authorization: `Bearer ${token}`, ...headers },
    )

  test('means the same as x-service-orgid', async () => {
    await ask({ 'x-zitadel-orgid': 'away' })
    await ask({ 'x-zitadel-orgid': 'away', 'x-service-orgid': 'away' })
    await ask({ 'x-zitadel-orgid': 'away', 'x-service-orgid': '' })
    await ask({ 'x-zitadel-orgid': '', 'x-service-orgid': 'away' })
    await ask({ 'x-zitadel-orgid': '' })
    expect(calls.map(({ organizationId }) => organizationId)).toEqual(['away', 'away', 'away', 'away', 'home'])
    const unknown = (await ask({ 'x-zitadel-orgid': 'nowhere' })).status
    expect(unknown).toMatchObject({ code: 7, details: [{ reason: 'PERMISSION_DENIED' }] })
  })

  test('is refused by name where it contradicts x-service-orgid, but only to a caller with a token', async () => {
    const headers = { 'x-zitadel-orgid': 'away', 'x-service-orgid': 'home' }
    expect((await ask(headers)).status).toMatchObject({
      code: 3,
      details: [{ reason: 'ORGANIZATION_AMBIGUOUS' }, { fieldViolations: [{ field: 'x-zitadel-orgid' }] }],
    })
    expect((await ask(headers, 'none')).status).toMatchObject({ code: 16 })
    expect(calls).toEqual([])
  })
})

test('a caller with roles in an organization may act there, and no service is asked', async () => {
  const memberships = [{ organizationId: 'away', roles: ['ORG_USER_MANAGER'] }]
  const token = newToken({ userId: 'guest', organizationId: 'home', memberships })
  await call(token, { 'x-service-orgid': 'away' })
  expect(gateway.backstage.asked.lookupOrganization).toBe(0)
})

test('all tokens of a user share its roles, and a service gets those at home and where it acts, with their projects', async () => {
  const places = ['home', 'away', ...Array.from({ length: 200 }, (_, index) => `o-${1000 + index}`)]
  const memberships = places.map((organizationId) => ({ organizationId, roles: ['ORG_USER_MANAGER'] }))
  const projectMemberships = places.slice(0, 10).flatMap((organizationId) =>
    Array.from({ length: 500 }, (_, index) => ({
      organizationId,
      projectId: `p-${index}`,
      roles: ['PROJECT_OWNER'],
    })),
  )
  const machine = { userId: 'machine', organizationId: 'home', memberships, projectMemberships }
  const tokens = Array.from({ length: 30 }, () => newToken(machine))
  for (const token of tokens) expect(await call(token)).toBe('ok')
  expect(gateway.backstage.asked).toMatchObject({ authenticate: 30, listMemberships: 1 })
  for (const token of tokens) expect(await call(token, { 'x-service-orgid': 'away' })).toBe('ok')
  expect(gateway.backstage.asked).toMatchObject({ authenticate: 30, listMemberships: 2 })
  const [{ caller: athome }, { caller: away }] = [calls[0]!, calls.at(-1)!]
  expect([Object.keys(athome.projectRoles), Object.keys(away.projectRoles)]).toEqual([['home'], ['home', 'away']])
  expect(Object.keys(away.projectRoles['away']!)).toHaveLength(500)
  expect(Object.keys(away.organizationRoles)).toEqual(['home', 'away'])
  expect([athome.hasRole, away.hasRole]).toEqual([true, true])
})

test.each(['nowhere', 'x'.repeat(500), 'ü', '__proto__', 'a b', '>', '*'])(
  'no caller acts for the organization %j that does not exist',
  async (organization) => {
    const name = Buffer.from(organization).toString('latin1')
    expect(await call(newToken({ ...owner, userId: 'lost' }), { 'x-service-orgid': name })).toBe('PERMISSION_DENIED')
    expect(await call('member', { 'x-service-orgid': name })).toBe('PERMISSION_DENIED')
    expect(calls).toEqual([])
  },
)

test('no client can set the headers that services trust: caller, address, organization and cause', async () => {
  const forged = { 'roster-caller': '{"userId":"root"}', 'roster-organization': 'away', 'roster-client': 'x' }
  expect(await call(newToken(owner), { ...forged, 'roster-cause': 'users-1' })).toBe('ok')
  expect(calls[0]).toMatchObject({ caller: { userId: 'owner' }, organizationId: 'home', clientAddress: '127.0.0.1' })
  expect(calls[0]).not.toHaveProperty('cause')
})

test('an unknown organization is asked for again at the next call', async () => {
  const token = newToken({ ...owner, userId: 'founder' })
  expect(await call(token, { 'x-service-orgid': 'new' })).toBe('PERMISSION_DENIED')
  gateway.backstage.organizations.add('new')
  expect(await call(token, { 'x-service-orgid': 'new' })).toBe('ok')
})

test.each([
  ...['Bearer', 'Bearer ', 'Bearer a b', 'Bearer ü', `Bearer ${'x'.repeat(12_001)}`].map((text) => [
    text,
    'TOKEN_INVALID',
  ]),
  // Of another scheme, or none (RFC 6750 section 3.1).
  ...['Basic eDp5', 'Token x', 'x', 'Bearerx y'].map((text) => [text, 'TOKEN_MISSING']),
])('the credentials %j are refused without asking a service: %s', async (authorization, reason) => {
  expect(await call('', { authorization: Buffer.from(authorization).toString('latin1') })).toBe(reason)
  expect(gateway.backstage.asked.authenticate).toBe(0)
})
