import { connect as connectTcp } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { frameOf } from '../testing/test-client.ts'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

const setEmail = '/roster.users.v1.UserService/SetEmail'
let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway({ 'roster.users.v1.UserService.SetEmail': () => ({}) })
})
afterAll(() => gateway.stop())

const once = {
  authorization: 'Bearer admin',
  'x-service-orgid': 'home',
  'idempotency-key': 'k1',
  'if-match': '*',
  dpop: 'x',
}

/** These headers with one name twice, in two spellings. */
function twice(name: string, headers: Record<string, string>): string[] {
  return [...Object.entries(headers).flat(), name.toUpperCase(), headers[name]!]
}

async function overHttp1(path: string, headers: string[], body: Uint8Array | string): Promise<string> {
  const socket = connectTcp(gateway.port, '127.0.0.1')
  const lines = Array.from({ length: headers.length / 2 }, (_, at) => `${headers[2 * at]}: ${headers[2 * at + 1]}\r\n`)
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: ${body.length}\r\n${lines.join('')}\r\n`,
  )
  socket.write(body)
  return (await buffer(socket)).toString()
}

// Speaks HTTP/2 by hand, since node:http2 sends no header twice. Gives the bytes of the answer's DATA.
async function overHttp2(path: string, headers: string[], body: Uint8Array | string): Promise<string> {
  const socket = connectTcp(gateway.port, '127.0.0.1')
  const all = [':method', 'POST', ':scheme', 'http', ':authority', 'a', ':path', path, ...headers]
  const fields = all.flatMap((part, at) => (at % 2 ? literal(part) : [0, ...literal(part.toLowerCase())]))
  const frames = [http2Frame(4, 0, 0, ''), http2Frame(1, 4, 1, Buffer.from(fields)), http2Frame(0, 1, 1, body)]
  socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), ...frames]))
  let [received, data] = [Buffer.alloc(0), '']
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    received = Buffer.concat([received, chunk])
    while (received.length >= 9 && received.length >= 9 + received.readUIntBE(0, 3)) {
      const end = 9 + received.readUIntBE(0, 3)
      const [type, flags, stream] = [received[3]!, received[4]!, received.readUInt32BE(5)]
      if (type === 0) data += received.subarray(9, end).toString()
      if (stream === 1 && (type === 3 || (type < 2 && flags % 2 === 1))) return data
      received = received.subarray(end)
    }
  }
  return data
}

function literal(value: string): number[] {
  return [value.length, ...Buffer.from(value)]
}

function http2Frame(type: number, flags: number, stream: number, payload: Uint8Array | string): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, Buffer.from(payload)])
}

const ways: [string, (headers: string[]) => Promise<string>, string][] = [
  ['JSON', (headers) => overHttp1('/v2/users/u/email', headers, '{"email":"a@b.c"}'), 'application/json'],
  ['JSON over HTTP/2', (headers) => overHttp2('/v2/users/u/email', headers, '{"email":"a@b.c"}'), 'application/json'],
  ['gRPC-web', (headers) => overHttp1(setEmail, headers, frameOf(Buffer.alloc(0))), 'application/grpc-web+proto'],
  ['gRPC', (headers) => overHttp2(setEmail, headers, frameOf(Buffer.alloc(0))), 'application/grpc'],
]

// The names are read in one place for all ways, so each name goes one of them.
test.each([...Object.keys(once), 'content-type'].map((name, at) => [name, ...ways[at % ways.length]!] as const))(
  '%s that comes twice is refused by its name in %s',
  async (name, way, ask, type) => {
    const { dpop, ...others } = once
    const headers: Record<string, string> = {
      ...(name === 'dpop' ? { ...others, dpop } : others),
      'content-type': type,
    }
    gateway.log.length = 0
    await ask(Object.entries(headers).flat())
    const answer = await ask(twice(name, headers))
    const calls = gateway.log.filter(({ msg }) => msg === 'call').map(({ reason }) => reason)
    expect(calls.map((reason) => reason === 'HEADER_REPEATED')).toEqual([false, true])
    if (way !== 'gRPC') expect(answer).toContain(`${name}: is a header that must come once`)
  },
)

test('an authority that the header host contradicts is refused', async () => {
  const ask = async (host: string) => overHttp2('/healthz', ['host', host], '')
  expect(await ask('b')).toContain('HTTP_MALFORMED')
  expect(await ask('a')).not.toContain('HTTP_MALFORMED')
})

test('a client without a token learns nothing of the other headers', async () => {
  const headers = twice('if-match', { 'content-type': 'application/json', 'if-match': '*' })
  expect(await overHttp1('/v2/users/u/email', headers, '{}')).toContain('TOKEN_MISSING')
})
