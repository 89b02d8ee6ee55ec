import { connect, type IncomingHttpHeaders } from 'node:http2'
import { fromBinary, type JsonValue, toJson } from '@bufbuild/protobuf'
import { Client, credentials, makeClientConstructor, Metadata, type ServiceError } from '@grpc/grpc-js'
import { service as healthService } from 'grpc-health-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { method } from '#lib/rpc/methods'
import { registry } from '#lib/registry'
import { callGrpc, frameOf, send } from '../../testing/test-client.ts'
import { startTestGateway, type TestGateway } from '../../testing/test-gateway.ts'

const setEmail = 'roster.users.v1.UserService.SetEmail'
const path = method(setEmail).path
const statusDesc = registry.getMessage('google.rpc.Status')!
let gateway: TestGateway
let release: () => void
let held: Promise<void>

beforeAll(async () => {
  ;({ promise: held, resolve: release } = Promise.withResolvers<void>())
  gateway = await startTestGateway(
    { [setEmail]: () => ({}), 'roster.users.v1.UserService.ResendEmailCode': () => held.then(() => ({})) },
    { REQUEST_TIMEOUT_MS: '500' },
  )
})
afterAll(() => gateway.stop())

const answered = [...registry].flatMap(({ kind, typeName }) =>
  kind === 'service' && !/\.(Internal|SignIn|Account)Service$/.test(typeName) ? [typeName] : [],
)
const Health = makeClientConstructor(healthService, 'Health')

async function check(service: string): Promise<string> {
  const client = new Health(`127.0.0.1:${gateway.port}`, credentials.createInsecure())
  const { promise, resolve } = Promise.withResolvers<string>()
  client['check']!({ service }, (error: ServiceError | null, answer: { status: string }) =>
    resolve(error ? String(error.code) : answer.status),
  )
  return promise.finally(() => client.close())
}

/** Sends an HTTP/2 request as raw as node:http2 allows. Gives its headers and trailers in one. */
async function request(headers: Record<string, string>, body: Uint8Array, end = true): Promise<IncomingHttpHeaders> {
  const session = connect(gateway.url)
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    authorization: 'Bearer admin',
    ...headers,
  })
  const received: IncomingHttpHeaders = {}
  const { promise, resolve, reject } = Promise.withResolvers<IncomingHttpHeaders>()
  session.on('error', reject)
  stream.on('response', (head) => Object.assign(received, head)).on('trailers', (head) => Object.assign(received, head))
  stream.on('error', reject).on('end', () => resolve(received))
  stream.resume()
  stream.write(body)
  if (end) stream.end()
  return promise.finally(() => session.destroy())
}

const message = (flag = 0) => frameOf(Buffer.from('nonsense'), flag)

test.each([
  ['an unknown method', { ':path': '/roster.users.v1.UserService/Nope' }, message(), 12, 'METHOD_UNKNOWN'],
  ['an unknown service', { ':path': '/a.B/C' }, message(), 12, 'METHOD_UNKNOWN'],
  ['an internal method', { ':path': '/roster.users.v1.InternalService/LookupUser' }, message(), 12, 'METHOD_UNKNOWN'],
  ['a path of the HTTP kind', { ':path': '/v2/users/u1/email' }, message(), 12, 'METHOD_UNKNOWN'],
  ['a path of strange letters', { ':path': '/é%ff\u00ff' }, message(), 12, 'METHOD_UNKNOWN'],
  ['bytes that are no message', {}, message(), 3, 'REQUEST_MALFORMED'],
  ['no message', {}, Buffer.alloc(0), 12, 'ONE_MESSAGE_EXPECTED'],
  ['an unknown compression', { 'grpc-encoding': 'snappy' }, message(1), 12, 'COMPRESSION_UNSUPPORTED'],
  ['an unknown compression, unused', { 'grpc-encoding': 'snappy' }, message(), 12, 'COMPRESSION_UNSUPPORTED'],
  ['a compression without a name', {}, message(1), 13, 'COMPRESSION_UNNAMED'],
  ['a compression that is none', { 'grpc-encoding': 'identity' }, message(1), 13, 'COMPRESSION_UNNAMED'],
  ['a compression that it is not', { 'grpc-encoding': 'gzip' }, message(1), 3, 'FRAME_MALFORMED'],
  ['a timeout that is none', { 'grpc-timeout': 'soon' }, message(), 3, 'TIMEOUT_MALFORMED'],
] as const)('%s is refused with the same Status as anywhere', async (_name, headers, body, code, reason) => {
  const { 'grpc-status': sent, ...rest } = await request({ ...headers, 'x-request-id': 'mine' }, body)
  expect(rest['grpc-accept-encoding']).toBe('identity,gzip,deflate')
  expect(rest['grpc-status-details-bin']).not.toContain('=')
  const bytes = Buffer.from(String(rest['grpc-status-details-bin']), 'base64')
  expect(toJson(statusDesc, fromBinary(statusDesc, bytes), { registry })).toMatchObject({ code, details: [{ reason }] })
  expect([sent, rest['x-request-id']]).toEqual([String(code), 'mine'])
})

test.each([
  ['another verb', { ':method': 'PUT' }, 405],
  ['JSON in frames', { 'content-type': 'application/grpc+json' }, 415],
  ['an unknown kind of message', { 'content-type': 'application/grpc+foo' }, 415],
  ['an unknown kind of gRPC-web message', { 'content-type': 'application/grpc-web+json' }, 415],
  ['a type that only begins alike', { 'content-type': 'application/grpcfoo' }, 415],
  ['no content type', { 'content-type': '' }, 415],
] as const)('%s is refused by the HTTP status', async (_name, headers, status) => {
  const answer = await request(headers, message())
  expect([answer[':status'], answer['grpc-status'], answer['content-type']]).toEqual([
    status,
    undefined,
    'application/json',
  ])
  if (status === 415) expect(answer['accept-post']).toContain('application/grpc+proto')
})

test('an answer that succeeds has no grpc-message', async () => {
  const sound = frameOf(Buffer.from([0x0a, 1, 0x75, 0x12, 5, ...Buffer.from('a@b.c')]))
  const answer = await request({}, sound)
  expect(answer).toMatchObject({ 'grpc-status': '0' })
  expect(answer).not.toHaveProperty('grpc-message')
})

test('a request that does not arrive is given up', async () => {
  expect(await request({}, message().subarray(0, 4), false)).toMatchObject({ 'grpc-status': '4' })
  expect(await request({ ':path': '/a.B/C' }, Buffer.alloc(0), false)).toMatchObject({ 'grpc-status': '12' })
})

test('a compressed message that grows beyond 1 MiB is refused', async () => {
  const client = new Client(`127.0.0.1:${gateway.port}`, credentials.createInsecure(), {
    'grpc.default_compression_algorithm': 2,
  })
  const metadata = new Metadata()
  metadata.set('authorization', 'Bearer admin')
  const same = (bytes: Buffer) => bytes
  const { promise, resolve } = Promise.withResolvers<ServiceError | null>()
  client.makeUnaryRequest(path, same, same, Buffer.alloc(5 * 1024 * 1024), metadata, (error) => resolve(error))
  expect(await promise).toMatchObject({ code: 8 })
  client.close()
})

test('metadata that is no text does not reach the log, and the process survives it', async () => {
  gateway.log.length = 0
  await request({ authorization: 'Bearer ÿsesame', 'x-bin': '%%', 'x-request-id': 'ÿ' }, message())
  expect(JSON.stringify(gateway.log)).not.toContain('sesame')
  expect(
    (await callGrpc(gateway.url, setEmail, { userId: 'u', email: 'a@example.com' }, { authorization: 'Bearer admin' }))
      .answer,
  ).toEqual({})
})

test('an error with more violations than metadata can hold still arrives', async () => {
  const roles = Array.from({ length: 1900 }, (_, index) => `role-${index}`)
  const request = { userId: 'u', roles }
  const subject = 'roster.grants.v1.OrganizationService.AddOrganizationMember'
  const { serveJsonOperations } = await import('../../testing/test-services.ts')
  const services = await serveJsonOperations(gateway.nats, { [subject]: () => ({}) })
  const { status } = await callGrpc(gateway.url, subject, request, { authorization: 'Bearer admin' })
  expect(status).toMatchObject({
    code: 3,
    details: [{ reason: 'VALIDATION_FAILED' }, { fieldViolations: expect.any(Array) }],
  })
  await services.get('grants')!.stop()
})

test('a client that cancels ends the wait', async () => {
  gateway.log.length = 0
  const { desc, path } = method('roster.users.v1.UserService.ResendEmailCode')
  const client = new Client(`127.0.0.1:${gateway.port}`, credentials.createInsecure())
  const metadata = new Metadata()
  metadata.set('authorization', 'Bearer admin')
  const same = (bytes: Buffer) => bytes
  const call = client.makeUnaryRequest(path, same, same, Buffer.from([0x0a, 1, 0x75]), metadata, () => {})
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(gateway.log).toEqual([])
  call.cancel()
  await expect
    .poll(() => gateway.log)
    .toMatchObject([{ method: `${desc.parent.typeName}.${desc.name}`, code: 1, reason: 'CANCELLED' }])
  release()
  client.close()
})

// Keep this test the last one: the services that it stops stay away.
test('health and readiness follow the services: without an essential one not ready, without another degraded, always alive', async () => {
  const readyz = async () => {
    const { status, body } = await send(gateway.url, { path: '/readyz' })
    const { versions: _, ...report } = JSON.parse(body) as Record<string, JsonValue>
    return [status, report]
  }
  const waiting = (...names: string[]) => ({
    waiting: { gateway: Object.fromEntries(names.map((name) => [name, expect.any(String)])) },
  })
  expect(await readyz()).toEqual([200, { status: 'ok' }])
  for (const name of ['', ...answered]) expect(await check(name)).toBe('SERVING')
  for (const name of ['Internal', 'SignIn', 'Account']) expect(await check(`roster.users.v1.${name}Service`)).toBe('5')

  await gateway.services.get('idp')!.stop()
  expect(await readyz()).toEqual([200, { status: 'degraded', missing: ['idp'], ...waiting('idp') }])
  expect([await check(''), await check('roster.users.v1.UserService')]).toEqual(['SERVING', 'SERVING'])
  for (const name of ['roster.idp.v1.IdentityProviderService', 'zitadel.admin.v1.AdminService'])
    expect(await check(name)).toBe('NOT_SERVING')
  // This look waits for idp, so it is still under way when the next is asked for.
  const before = readyz()
  expect(await check('')).toBe('SERVING')
  await gateway.services.get('users')!.stop()
  const both = { status: 'unavailable', missing: ['idp', 'users'], ...waiting('idp', 'users') }
  expect(await readyz()).toEqual([503, both])
  await before
  expect(await check('')).toBe('NOT_SERVING')
  await gateway.broker.kill()
  expect(await readyz()).toEqual([503, { status: 'unavailable', missing: ['nats'], ...waiting('NATS') }])
  expect((await send(gateway.url, { path: '/healthz' })).status).toBe(200)
  await gateway.broker.restart()
  await expect.poll(readyz, { timeout: 10_000 }).toEqual([503, both])
})
