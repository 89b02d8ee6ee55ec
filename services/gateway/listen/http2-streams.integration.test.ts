import { once } from 'node:events'
import { type ClientHttp2Session, connect, constants, type OutgoingHttpHeaders } from 'node:http2'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { frameOf } from '../testing/test-client.ts'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

const setEmail = 'roster.users.v1.UserService.SetEmail'
const getUser = 'roster.users.v1.UserService.GetUser'
const json = { authorization: 'Bearer admin', 'content-type': 'application/json' }
let gateway: TestGateway
let session: ClientHttp2Session
let waiting = 0

beforeAll(async () => {
  gateway = await startTestGateway(
    {
      [setEmail]: ({ email }) => ({ verificationCode: email! }),
      [getUser]: async () => {
        waiting++
        await sleep(200)
        return {}
      },
    },
    { REQUEST_TIMEOUT_MS: '600' },
  )
  session = connect(gateway.url)
})
afterAll(async () => {
  session.close()
  await gateway.stop()
})

interface Answer {
  headers: Record<string, unknown>
  body: Buffer
}

function ask(headers: OutgoingHttpHeaders, body?: string | Uint8Array, end = true): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const stream = session.request(headers, { endStream: body === undefined && end })
  const chunks: Buffer[] = []
  let received: Record<string, unknown> = {}
  stream.on('response', (answer) => (received = answer))
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.on('close', () =>
    Object.keys(received).length > 0
      ? resolve({ headers: received, body: Buffer.concat(chunks) })
      : reject(new Error('no answer')),
  )
  stream.on('error', () => {})
  if (body !== undefined) stream.write(body)
  if (body !== undefined && end) stream.end()
  return promise
}

const post = (headers: OutgoingHttpHeaders, body: string | Uint8Array) =>
  ask({ ':method': 'POST', ':path': '/v2/users/u1/email', ...headers }, body)
const reasonOf = ({ body }: Answer) =>
  (JSON.parse(body.toString()) as { details: { reason: string }[] }).details[0]!.reason

test('JSON is served over HTTP/2 as over HTTP/1.1, answers and errors alike', async () => {
  const answer = await post(json, '{"email":"a@example.com"}')
  expect(answer.headers).toMatchObject({
    ':status': 200,
    'content-type': 'application/json',
    'x-request-id': expect.any(String),
  })
  expect(JSON.parse(answer.body.toString())).toEqual({ verificationCode: 'a@example.com' })
  const refused = await post({ 'content-type': 'application/json' }, '{}')
  expect(refused.headers).toMatchObject({ ':status': 401, 'www-authenticate': expect.any(String) })
  expect(reasonOf(refused)).toBe('TOKEN_MISSING')
  expect(reasonOf(await ask({ ':path': '/nope' }))).toBe('PATH_NOT_FOUND')
  expect(reasonOf(await ask({ ':path': '/v2/users/u1/email' }))).toBe('METHOD_NOT_ALLOWED')
  expect(reasonOf(await post({ ...json, 'content-type': 'text/plain' }, '{}'))).toBe('CONTENT_TYPE_UNSUPPORTED')
})

test('gRPC-web, pages, health and CORS are served over HTTP/2', async () => {
  const web = await ask(
    {
      ':method': 'POST',
      ':path': '/roster.users.v1.UserService/SetEmail',
      ...json,
      'content-type': 'application/grpc-web+proto',
    },
    frameOf(Buffer.from('0a0275311202614062', 'hex').subarray(0, 0)),
  )
  expect(web.headers).toMatchObject({ ':status': 200, 'content-type': 'application/grpc-web+proto' })
  expect(web.body.toString('latin1')).toContain('grpc-status:')
  expect((await ask({ ':path': '/healthz' })).headers[':status']).toBe(200)
  expect((await ask({ ':path': '/ui/verify-email' })).headers['content-type']).toContain('text/html')
  const preflight = await ask({
    ':method': 'OPTIONS',
    ':path': '/v2/users/u1/email',
    origin: 'https://app.example',
    'access-control-request-method': 'POST',
  })
  expect(preflight.headers).toMatchObject({ ':status': 204, 'access-control-allow-origin': '*' })
})

test('the process survives clients that reset streams, ask for tunnels or never finish', async () => {
  for (let i = 0; i < 20; i++) {
    const stream = session.request({ ':method': 'POST', ':path': '/v2/users/u1/email', ...json })
    stream.on('error', () => {})
    stream.write('{"email":')
    stream.close(i % 2 ? constants.NGHTTP2_CANCEL : constants.NGHTTP2_INTERNAL_ERROR)
  }
  const gone = session.request({ ':path': '/v2/users/u1', authorization: 'Bearer admin' })
  gone.on('error', () => {})
  await expect.poll(() => waiting).toBe(1)
  gone.close(constants.NGHTTP2_CANCEL)
  await ask({ ':method': 'CONNECT', ':authority': 'example.com:443' }).catch(() => {})
  const late = await ask({ ':method': 'POST', ':path': '/v2/users/u1/email', ...json }, '{', false)
  expect([late.headers[':status'], reasonOf(late)]).toEqual([408, 'REQUEST_TIMEOUT'])
  expect((await post(json, '{"email":"b@example.com"}')).headers[':status']).toBe(200)
  await expect
    .poll(() => gateway.log.some((line) => line['method'] === getUser && line['reason'] === 'CANCELLED'))
    .toBe(true)
})

test.each([
  ['a page', { ':path': '/ui/verify-email.js' }, ''],
  ['an answer', { ':method': 'POST', ':path': '/v2/users/u1/email', ...json }, '{"email":"d@example.com"}'],
  [
    'an answer of gRPC',
    {
      ':method': 'POST',
      ':path': '/roster.users.v1.UserService/SetEmail',
      ...json,
      'content-type': 'application/grpc',
    },
    frameOf(Buffer.from('0a0175120561406 22e63'.replace(' ', ''), 'hex')),
  ],
])('%s that its client does not read is dropped in the end', async (_name, headers, body) => {
  const deaf = connect(gateway.url, { settings: { initialWindowSize: 0 } })
  const stream = deaf.request(headers, { endStream: body.length === 0 })
  let answered = false
  stream.on('response', () => (answered = true)).on('error', () => {})
  if (body.length > 0) stream.end(body)
  await expect.poll(() => stream.closed, { timeout: 10_000 }).toBe(true)
  expect(answered).toBe(true)
  deaf.close()
})

test('a client that resets stream after stream gets ENHANCE_YOUR_CALM, and one that resets some goes on', async () => {
  const slow = { ':path': '/v2/users/u1', authorization: 'Bearer admin' }
  const resetting = async (streams: number) => {
    const client = connect(gateway.url)
    const { promise: ended, resolve } = Promise.withResolvers<number>()
    client.on('error', () => {}).on('goaway', resolve)
    await once(client, 'connect')
    // A client opens no more at once than it may.
    for (let n = 0; n < streams && !client.destroyed; n += 50) {
      const opened = Array.from({ length: 50 }, () => client.request(slow).on('error', () => {}))
      await nextTurn()
      for (const stream of opened) stream.close(constants.NGHTTP2_CANCEL)
      await nextTurn()
    }
    return { client, ended }
  }
  const { client: calm } = await resetting(100)
  const answered = calm.request({ ':path': '/healthz' })
  const [headers] = (await once(answered, 'response')) as [OutgoingHttpHeaders]
  expect(headers[':status']).toBe(200)
  calm.destroy()
  const { ended } = await resetting(1000)
  expect(await ended).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM)
})
