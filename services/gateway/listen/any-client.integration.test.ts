import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { send } from '../testing/test-client.ts'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

let gateway: TestGateway
let aborted: Promise<void>

beforeAll(async () => {
  gateway = await startTestGateway(
    {
      'roster.users.v1.UserService.GetUser': () => ({ user: { userId: 'u1' } }),
      'roster.users.v1.UserService.ResendEmailCode': () => aborted.then(() => ({})),
    },
    { HEADERS_TIMEOUT_MS: '400', REQUEST_TIMEOUT_MS: '900' },
  )
})
afterAll(() => gateway.stop())

const reasonOf = ({ body }: { body: string }) =>
  (JSON.parse(body) as { details: { reason: string }[] }).details[0]!.reason

async function raw(text: string): Promise<string> {
  const socket = connect(gateway.port, '127.0.0.1')
  socket.write(text)
  return (await buffer(socket)).toString()
}

test.each([
  ['no HTTP at all', 'nonsense\r\n\r\n', 400, 'HTTP_MALFORMED'],
  ['two lengths', 'POST / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n', 400, 'HTTP_MALFORMED'],
  ['half a head', 'GET /healthz HTTP/1.1\r\n', 408, 'REQUEST_TIMEOUT'],
] as const)('%s gets an error of the same shape, and the connection ends', async (_name, text, status, reason) => {
  const answer = await raw(text)
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(reasonOf({ body: answer.split('\r\n\r\n')[1]! })).toBe(reason)
})

test.each([
  ['sends nothing', ''],
  ['sends half a preface', 'PRI * HT'],
  [
    'never ends its body',
    `POST /v2/users/u1/email HTTP/1.1\r\nauthorization: Bearer admin\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{`,
  ],
])('a client that %s is cut off', async (_name, text) => {
  const started = performance.now()
  await raw(text)
  expect(performance.now() - started).toBeLessThan(5_000)
})

test('a client that goes away ends the wait', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  aborted = promise
  gateway.log.length = 0
  const head =
    'POST /v2/users/u1/email/resend HTTP/1.1\r\nauthorization: Bearer admin\r\ncontent-type: application/json\r\n'
  const socket = connect(gateway.port, '127.0.0.1')
  socket.write(`${head}content-length: 2\r\n\r\n{}`)
  await new Promise((r) => setTimeout(r, 100))
  // A client that only closes its half might still wait for the answer.
  socket.resetAndDestroy()
  const resends = () => gateway.log.filter(({ method }) => (method as string | undefined)?.endsWith('ResendEmailCode'))
  await expect.poll(resends).toMatchObject([{ msg: 'call', code: 1, reason: 'CANCELLED' }])
  resolve()
})

test('requests that follow one another on one connection are answered in order', async () => {
  const head = (path: string, rest: string) => `GET ${path} HTTP/1.1\r\n${rest}\r\n`
  const text =
    head('/v2/users/u1', 'authorization: Bearer admin\r\n') +
    head('/nope', '') +
    head('/healthz', 'connection: close\r\n')
  expect((await raw(text)).match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404', 'HTTP/1.1 200'])
})

test('the gateway survives any bytes', async () => {
  const start = fc.constantFrom(
    '',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'POST /roster.users.v1.UserService/SetEmail HTTP/1.1\r\n',
    'GET / HTTP/1.1\r\n',
  )
  await fc.assert(
    fc.asyncProperty(start, fc.uint8Array({ maxLength: 200 }), async (head, bytes) => {
      const socket = connect(gateway.port, '127.0.0.1')
      socket.on('error', () => {})
      socket.end(Buffer.concat([Buffer.from(head), bytes]))
      socket.resume()
      await new Promise((resolve) => socket.once('close', resolve))
    }),
    { numRuns: 150 },
  )
  expect((await send(gateway.url, { path: '/healthz' })).status).toBe(200)
})
