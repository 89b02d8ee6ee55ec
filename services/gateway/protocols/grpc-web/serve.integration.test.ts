import { gunzipSync, gzipSync } from 'node:zlib'
import { fromBinary, type JsonValue, toJson } from '@bufbuild/protobuf'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { method } from '#lib/rpc/methods'
import { registry } from '#lib/registry'
import { frameOf, readFrames } from '../../testing/test-client.ts'
import { startTestGateway, type TestGateway } from '../../testing/test-gateway.ts'

const setEmail = method('roster.users.v1.UserService.SetEmail')
const search = method('roster.users.v1.UserService.SearchUsers')
const statusDesc = registry.getMessage('google.rpc.Status')!
const found = { users: Array.from({ length: 100 }, (_, n) => ({ userId: `user-${n}` })) }
const email = Buffer.from([0x0a, 1, 0x75, 0x12, 5, ...Buffer.from('a@b.c')])
let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway({
    [setEmail.subject]: () => ({ verificationCode: 'x'.repeat(5000) }),
    [search.subject]: () => found,
  })
})
afterAll(() => gateway.stop())

async function ask(
  { path }: { path: string },
  headers: Record<string, string>,
  body: Buffer,
  verb: 'POST' | 'DELETE' = 'POST',
) {
  const all = { authorization: 'Bearer admin', 'content-type': 'application/grpc-web+proto', ...headers }
  const response = await fetch(gateway.url + path, { method: verb, headers: all, body: new Uint8Array(body) })
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) }
}

const message = frameOf(email)

test.each([
  ['no message', {}, Buffer.alloc(0), 12, 'ONE_MESSAGE_EXPECTED'],
  ['trailers instead of a message', {}, frameOf(Buffer.from('a:b\r\n'), 0x80), 3, 'FRAME_MALFORMED'],
  ['an unknown compression', { 'grpc-encoding': 'foo' }, message, 12, 'COMPRESSION_UNSUPPORTED'],
  ['a bomb', { 'grpc-encoding': 'gzip' }, frameOf(gzipSync(Buffer.alloc(1 << 26)), 1), 8, 'REQUEST_TOO_LARGE'],
] as const)('%s is refused', async (_name, headers, body, code, reason) => {
  const answer = await ask(setEmail, headers, body)
  expect([answer.status, answer.headers.get('grpc-accept-encoding')]).toEqual([200, 'identity,gzip,deflate'])
  const { trailers } = readFrames(answer.body)
  const details = Buffer.from(trailers.get('grpc-status-details-bin')!, 'base64')
  const status: JsonValue = toJson(statusDesc, fromBinary(statusDesc, details), { registry })
  expect(status).toMatchObject({ code, details: [{ reason }] })
  expect(trailers.get('grpc-status')).toBe(String(code))
})

test.each([
  ['another kind of message', { 'content-type': 'application/grpc-web+json' }, 'POST', 415],
  ['an unknown kind of message', { 'content-type': 'application/grpc-webfoo' }, 'POST', 415],
  ['another verb', {}, 'DELETE', 405],
] as const)('%s is refused by the HTTP status', async (_name, headers, verb, status) => {
  expect((await ask(setEmail, headers, message, verb)).status).toBe(status)
})

test('compression goes in both directions, but for answers to writes', async () => {
  const packed = { 'grpc-encoding': 'gzip', 'grpc-accept-encoding': 'identity,gzip' }
  const read = await ask(search, packed, frameOf(gzipSync(''), 1))
  expect([read.headers.get('grpc-encoding'), read.body[0]]).toEqual(['gzip', 1])
  const bytes = gunzipSync(readFrames(read.body).message!)
  expect(toJson(search.desc.output, fromBinary(search.desc.output, bytes), { registry })).toMatchObject(found)
  const written = await ask(setEmail, packed, frameOf(gzipSync(email), 1))
  expect([written.headers.get('grpc-encoding'), written.body[0]]).toEqual([null, 0])
})
