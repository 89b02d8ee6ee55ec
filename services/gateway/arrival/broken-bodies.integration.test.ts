import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { frameOf, send } from '../testing/test-client.ts'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

const json =
  'POST /v2/users/u1/email HTTP/1.1\r\nhost: a\r\nauthorization: Bearer admin\r\ncontent-type: application/json\r\n'
const form = 'POST /oauth/v2/token HTTP/1.1\r\nhost: a\r\ncontent-type: application/x-www-form-urlencoded\r\n'
const web = `POST /roster.users.v1.UserService/SetEmail HTTP/1.1\r\nhost: a\r\nauthorization: Bearer admin\r\n`
const webBinary = `${web}content-type: application/grpc-web+proto\r\n`
const connectProto = `${web}content-type: application/proto\r\n`
const webText = `${web}content-type: application/grpc-web-text+proto\r\n`
let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway(
    { 'roster.users.v1.UserService.SetEmail': () => ({}) },
    // The shorter one also says how often the gateway looks for late requests.
    { REQUEST_TIMEOUT_MS: '700', HEADERS_TIMEOUT_MS: '700' },
  )
  // The first request of a process takes longer than others.
  await send(gateway.url, { path: '/healthz' })
})
afterAll(() => gateway.stop())

/** Gives the answer to these bytes. `end` closes the client's half of the connection. */
async function raw(text: string, end: boolean): Promise<string> {
  const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true })
  if (end) socket.end(text)
  else socket.write(text)
  const answer = (await buffer(socket)).toString()
  socket.destroy()
  return answer
}

const chunked = 'transfer-encoding: chunked\r\n\r\n'
const breaks: [string, string, boolean, string][] = [
  ['a chunk whose size is no number', `${chunked}zz\r\n{}`, false, 'HTTP_MALFORMED'],
  ['a chunk that is longer than it says', `${chunked}2\r\n{}}\r\n`, false, 'HTTP_MALFORMED'],
  ['a second chunk with a negative size', `${chunked}1\r\n{\r\n-1\r\n`, false, 'HTTP_MALFORMED'],
  ['chunks that end midway', `${chunked}5\r\n{`, true, 'HTTP_MALFORMED'],
  ['a length that is not reached', 'content-length: 100\r\n\r\n{"email":', true, 'HTTP_MALFORMED'],
  ['a length without a body', 'content-length: 100\r\n\r\n', true, 'HTTP_MALFORMED'],
]
const late: [string, string][] = [
  ['a length that is not reached in time', 'content-length: 100\r\n\r\n{"email":'],
  ['chunks that stop', `${chunked}5\r\n{`],
]
const encodings: [string, string][] = [
  ['JSON', json],
  ['a form', form],
  ['gRPC-web', webBinary],
  ['gRPC-web text', webText],
  ['Connect', connectProto],
]

// One reader of HTTP is before all encodings, so each takes one of the breaks.
test.each(breaks.map(([what, ...rest], at) => [what, ...encodings[at % encodings.length]!, ...rest] as const))(
  '%s in %s is answered, logged, and the connection ends',
  async (_what, name, head, body, end, reason) => {
    gateway.log.length = 0
    isAnswer(await raw(head + body, end), name, reason)
    expect(gateway.log.filter(({ msg }) => msg === 'call')).toMatchObject([{ reason }])
  },
)

test.each(late)('%s is answered, logged, and the connection ends, in every encoding', async (_what, body) => {
  gateway.log.length = 0
  const answers = await Promise.all(encodings.map(([, head]) => raw(head + body, false)))
  for (const [n, answer] of answers.entries()) isAnswer(answer, encodings[n]![0], 'REQUEST_TIMEOUT')
  const calls = gateway.log.filter(({ msg }) => msg === 'call')
  expect(calls).toMatchObject(encodings.map(() => ({ reason: 'REQUEST_TIMEOUT' })))
})

function isAnswer(answer: string, name: string, reason: string) {
  if (name === 'a form') expect(answer).toMatch(/^HTTP\/1\.1 4\d\d [^]*"error":/)
  else if (name === 'JSON' || name === 'Connect')
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 [45]\\d\\d [^]*"reason":"${reason}"`))
  else {
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    const payload = answer.slice(answer.indexOf('\r\n\r\n') + 4)
    const text = name === 'gRPC-web' ? payload : Buffer.from(payload, 'base64').toString()
    expect(text, name).toMatch(/grpc-status:(3|4)\r\n/)
  }
  expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1)
}

const emailInProto = '\n\x01u\x12\x05a@b.c'
const wholeBodies = new Map([
  [webBinary, frameOf(Buffer.alloc(0)).toString('latin1')],
  [webText, 'AAAAAAA='],
  [connectProto, emailInProto],
])

test.each(encodings)('a whole request in %s is answered also after its client closed its half', async (_name, head) => {
  const body = wholeBodies.get(head) ?? '{"email":"a@b.c"}'
  const answer = await raw(`${head}content-length: ${body.length}\r\n\r\n${body}`, true)
  expect(answer).toMatch(head === form ? /^HTTP\/1\.1 503 [^]*"error":/ : /^HTTP\/1\.1 200 /)
})

test('of a client that closed its half, whole requests are answered and a cut one is refused', async () => {
  const whole = `${json}content-length: 17\r\n\r\n{"email":"a@b.c"}`
  const answer = await raw(`${whole}${whole}${json}content-length: 2\r\n\r\n{`, true)
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400'])
})

test('a stream ends when its client closes its half, for the client may have gone', async () => {
  gateway.log.length = 0
  const stream = webBinary.replace('users.v1.UserService/SetEmail', 'notifier.v1.EventService/WatchEvents')
  const body = frameOf(Buffer.alloc(0)).toString('latin1')
  await raw(`${stream}content-length: ${body.length}\r\n\r\n${body}`, true)
  await raw(`${stream.replace('grpc-web+', 'connect+')}content-length: ${body.length}\r\n\r\n${body}`, true)
  const ended = { reason: 'CANCELLED' }
  expect(gateway.log.filter(({ msg }) => msg === 'call')).toMatchObject([ended, { ...ended, encoding: 'connect' }])
})

test('a whole request is answered although broken bytes follow it', async () => {
  const answer = await raw(`${json}content-length: 17\r\n\r\n{"email":"a@b.c"}nonsense\r\n\r\n`, false)
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400'])
})

test.each([
  ['two lengths', 'content-length: 2\r\ncontent-length: 3\r\n\r\n{}', 'HTTP_MALFORMED'],
  ['a length and chunks', `content-length: 2\r\n${chunked}2\r\n{}\r\n0\r\n\r\n`, 'HTTP_MALFORMED'],
  ['two hosts', 'host: b\r\ncontent-length: 2\r\n\r\n{}', 'HTTP_MALFORMED'],
  ['the same host twice', 'Host: a\r\ncontent-length: 2\r\n\r\n{}', 'HTTP_MALFORMED'],
])('a request with %s is refused', async (_name, rest, reason) => {
  expect(await raw(json + rest, true)).toMatch(new RegExp(`^HTTP/1.1 400 [^]*"reason":"${reason}"`))
})

test.each(['a b', 'a/b', 'a@b', 'ä', '<', 'a\\b', 'a"', 'a,b/'])('the host %j is refused', async (host) => {
  const answer = await raw(`GET /healthz HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`, false)
  expect(answer).toMatch(/^HTTP\/1.1 400 [^]*"reason":"HTTP_MALFORMED"/)
})

test.each(['a', 'a.example:8080', '[::1]:80', 'xn--4ca.example', ''])('the host %j is accepted', async (host) => {
  expect(await raw(`GET /healthz HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`, false)).toMatch(
    /^HTTP\/1.1 200/,
  )
})

test('a body over the limit of public methods is refused, with its length and without', async () => {
  const headers = { 'content-type': 'application/json' }
  const pieces: Record<string, string> = { 'transfer-encoding': 'chunked' }
  for (const more of [{}, pieces]) {
    const body = JSON.stringify({ loginName: 'a'.repeat(17_000) })
    const answer = await send(gateway.url, {
      method: 'POST',
      path: '/v2/sessions',
      headers: { ...headers, ...more },
      body,
    })
    expect([answer.status, answer.body]).toEqual([413, expect.stringContaining('more than 16 KiB')])
  }
  const path = '/roster.users.v1.SessionService/CreateSession'
  const grpcWeb = { 'content-type': 'application/grpc-web+proto' }
  const answer = await send(gateway.url, {
    method: 'POST',
    path,
    headers: grpcWeb,
    body: frameOf(Buffer.alloc(16 * 1024 + 1)),
  })
  expect(answer.body).toContain('more than 16 KiB')
  const taken = await send(gateway.url, {
    method: 'POST',
    path,
    headers: grpcWeb,
    body: frameOf(Buffer.alloc(16 * 1024)),
  })
  expect(taken.body).not.toContain('more than 16 KiB')
})
