import type { JsonValue } from '@bufbuild/protobuf'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { invalid, RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { showPresence } from '#lib/rpc/presence'
import {
  callConnect,
  callConnectJson,
  callGrpc,
  callGrpcWeb,
  callGrpcWebText,
  callJson,
} from '../testing/test-client.ts'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'
import type { Operations } from '../testing/test-services.ts'

const setEmail = 'roster.users.v1.UserService.SetEmail'
const updateIdp = 'roster.idp.v1.IdentityProviderService.UpdateIDP'
const encodings = [
  ['json', callJson],
  ['grpc', callGrpc],
  ['grpc-web', callGrpcWeb],
  ['grpc-web-text', callGrpcWebText],
  ['connect', callConnect],
  ['connect-json', callConnectJson],
] as const
const request = {
  userId: 'u/1 é',
  email: 'someone@example.com',
  sendCode: { urlTemplate: 'https://example.com/{{.Code}}' },
}
const admin = { authorization: 'Bearer admin' }

let gateway: TestGateway
let answer: (received: JsonValue, call: Call) => JsonValue | Promise<JsonValue>
let received: { request: JsonValue; call: Call }[]

beforeAll(async () => {
  const operations: Operations = {
    [setEmail]: (received, call) => answer(received, call),
    [updateIdp]: (received, call) => answer(received, call),
  }
  gateway = await startTestGateway(operations, { TRUST_TRACEPARENT: 'true' })
})
afterAll(() => gateway.stop())
beforeEach(() => {
  received = []
  answer = (request, call) => {
    received.push({ request, call })
    return {
      details: { sequence: '7', changeDate: '2026-01-02T03:04:05.678Z', resourceOwner: 'home' },
      verificationCode: 'C',
    }
  }
})

test.each(encodings)('in %s the service gets the request and the caller gets the answer', async (_name, call) => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const { answer, requestId } = await call(gateway.url, setEmail, request, {
    ...admin,
    traceparent,
    'x-request-id': 'my-request',
  })
  expect(answer).toEqual({
    details: { sequence: '7', changeDate: '2026-01-02T03:04:05.678Z', resourceOwner: 'home' },
    verificationCode: 'C',
  })
  expect(requestId).toBe('my-request')
  expect(received).toMatchObject([
    {
      request,
      call: {
        requestId,
        traceparent,
        clientAddress: '127.0.0.1',
        organizationId: 'home',
        caller: { userId: 'admin-id' },
      },
    },
  ])
})

test.each(encodings)(
  'in %s a request without an id gets one, and one with a senseless id another',
  async (_name, call) => {
    const ids = [
      (await call(gateway.url, setEmail, request, admin)).requestId,
      (await call(gateway.url, setEmail, request, { ...admin, 'x-request-id': 'a b' })).requestId,
      (await call(gateway.url, setEmail, request, { ...admin, 'x-request-id': 'x'.repeat(129) })).requestId,
      (await call(gateway.url, setEmail, request)).requestId,
    ]
    for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/)
    expect(new Set(ids).size).toBe(4)
  },
)

const errors: [string, () => unknown][] = [
  [
    'violations',
    () =>
      invalid([
        { field: 'sendCode.urlTemplate', description: 'is none' },
        { field: 'email', description: 'ü' },
      ]),
  ],
  ['a retry', () => new RosterError('RESOURCE_EXHAUSTED', 'THROTTLED', 'Too often.', { retryAfter: 1.5 })],
  [
    'metadata',
    () => new RosterError('FAILED_PRECONDITION', 'ROLE_NOT_FOUND', 'No ü% role\n.', { metadata: { roles: 'ä,b' } }),
  ],
  ['nothing more', () => new RosterError('NOT_FOUND', 'USER_NOT_FOUND', 'There is no such user.')],
  ['a cause that stays inside', () => new Error('the secret cause')],
]

test.each(errors)('an error with %s is the same Status in every encoding', async (_name, make) => {
  answer = () => {
    throw make()
  }
  const statuses = []
  for (const [, call] of encodings) statuses.push((await call(gateway.url, setEmail, request, admin)).status)
  expect(statuses[0]).toHaveProperty('details.0.domain', 'roster')
  expect(JSON.stringify(statuses)).not.toContain('secret')
  for (const status of statuses) expect(status).toEqual(statuses[0])
})

test('a refused permission says the same for an unknown and a foreign organization', async () => {
  const denied = async (organization: string) =>
    (
      await callJson(gateway.url, setEmail, request, {
        authorization: 'Bearer member',
        'x-service-orgid': organization,
      })
    ).status
  expect(await denied('away')).toEqual(await denied('nowhere'))
})

test.each(encodings)('in %s a deadline ends the wait and is passed on', async (name, call) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let left = Infinity
  answer = async (_request, { deadline }) => {
    left = deadline - Date.now()
    await promise
    return {}
  }
  const started = performance.now()
  const timeout = name === 'json' ? '1' : name.startsWith('connect') ? '1000' : '1000m'
  const { status } = await call(gateway.url, setEmail, request, { ...admin, [headerOf(name)]: timeout })
  const ended = { code: 4, details: [expect.objectContaining({ reason: 'DEADLINE_EXCEEDED' })] }
  // A gRPC client has a clock of its own, and on a busy machine it may be first.
  const byClient = { code: 4, details: 'none' }
  expect((name === 'grpc' ? [ended, byClient] : [ended]).map((one) => expect.objectContaining(one))).toContainEqual(
    status,
  )
  expect(performance.now() - started).toBeLessThan(5000)
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThanOrEqual(1000)
  resolve()
})

test('a call without a deadline gets the default, and no call gets more than the maximum', async () => {
  const left: number[] = []
  answer = (_request, { deadline }) => {
    left.push((deadline - Date.now()) / 1000)
    return {}
  }
  for (const [, call] of encodings) await call(gateway.url, setEmail, request, admin)
  await callJson(gateway.url, setEmail, request, { ...admin, 'x-request-timeout': '99999' })
  await callGrpcWeb(gateway.url, setEmail, request, { ...admin, 'grpc-timeout': '9H' })
  await callGrpc(gateway.url, setEmail, request, { ...admin, 'grpc-timeout': '3600000' })
  expect(left.map((seconds) => Math.round(seconds))).toEqual([10, 10, 10, 10, 10, 10, 60, 60, 60])
})

test.each(encodings.filter(([name]) => name !== 'grpc'))('in %s a malformed timeout is refused', async (name, call) => {
  const { status } = await call(gateway.url, setEmail, request, { ...admin, [headerOf(name)]: '5x' })
  expect(status).toMatchObject({ code: 3, details: [{ reason: 'TIMEOUT_MALFORMED' }] })
})

function headerOf(name: string): string {
  if (name === 'json') return 'x-request-timeout'
  return name.startsWith('connect') ? 'connect-timeout-ms' : 'grpc-timeout'
}

test.each(encodings)('in %s a public method looks at no token and no organization', async (_name, call) => {
  const before = { ...gateway.backstage.asked }
  const resetPassword = 'roster.users.v1.PasswordService.RequestPasswordReset'
  const { status } = await call(
    gateway.url,
    resetPassword,
    { loginName: 'a' },
    { authorization: 'Bearer stale', 'x-service-orgid': 'nowhere' },
  )
  expect(status).toMatchObject({ code: 14, details: [{ reason: 'SERVICE_UNAVAILABLE' }, { retryDelay: '1s' }] })
  expect(gateway.backstage.asked).toEqual(before)
})

test('each call is one line in the log, which shows neither token nor address nor body', async () => {
  gateway.log.length = 0
  for (const [, call] of encodings) await call(gateway.url, setEmail, request, { ...admin, 'x-request-id': 'logged' })
  await callJson(gateway.url, setEmail, request, { authorization: 'Bearer sesame' })
  const line = { msg: 'call', method: setEmail, code: 0, requestId: 'logged', user: 'admin-id', ms: expect.any(Number) }
  expect(gateway.log).toMatchObject([
    ...['json', 'grpc', 'grpc-web', 'grpc-web', 'connect', 'connect'].map((encoding) => ({ ...line, encoding })),
    { ...line, encoding: 'json', code: 16, reason: 'TOKEN_INVALID', requestId: expect.any(String), user: '' },
  ])
  expect(JSON.stringify(gateway.log)).not.toMatch(/Bearer|sesame|127\.0\.0\.1|example\.com/)
})

test('an internal error of the gateway is logged with its cause, which the caller does not see', async () => {
  gateway.log.length = 0
  const bytes = Uint8Array.from([0xff, 0xff])
  const presence = showPresence(gateway.nats.users, 'roster.users.v1.UserService.GetUser')
  const subscription = gateway.nats.users.connection.subscribe('roster.users.v1.UserService.GetUser', {
    callback: (_error, message) => void message.respond(bytes),
  })
  await gateway.nats.users.connection.flush()
  const { status } = await callJson(gateway.url, 'roster.users.v1.UserService.GetUser', { userId: 'u' }, admin)
  expect(status).toMatchObject({ code: 13, message: 'An internal error occurred.', details: [{ reason: 'INTERNAL' }] })
  expect(gateway.log).toMatchObject([
    { msg: 'call', code: 13 },
    { msg: 'failed', err: { stack: expect.any(String) } },
  ])
  subscription.unsubscribe()
  presence.refuse()
  presence.end()
})
