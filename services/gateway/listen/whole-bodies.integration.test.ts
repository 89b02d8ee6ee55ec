import { connect, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

let gateway: TestGateway
/** The addresses that the operation was asked to set. */
let asked: string[] = []
let beforeAnswer = () => Promise.resolve()

beforeAll(async () => {
  gateway = await startTestGateway(
    {
      'roster.users.v1.UserService.SetEmail': async ({ email }) => {
        asked.push(email as string)
        await beforeAnswer()
        return {}
      },
    },
    { PUBLIC_REQUEST_BYTES: '1024', UNDER_WAY_BYTES: String(16 * 1024 * 1024), WRITES_PER_CALLER: '100000' },
  )
})
afterAll(() => gateway.stop())

const json = 'authorization: Bearer admin\r\ncontent-type: application/json\r\n'
const head = (path: string, headers: string) => `POST ${path} HTTP/1.1\r\nhost: a\r\n${headers}`
const withLength = (body: string | Buffer) => `content-length: ${body.length}\r\n\r\n`
const setEmail = (headers = json) => head('/v2/users/u1/email', headers)

/** Sends all bytes at once, so that head and body come together. */
function open(...parts: (string | Buffer)[]): Socket {
  const socket = connect({ port: gateway.port, host: '127.0.0.1' })
  socket.write(Buffer.concat(parts.map((part) => Buffer.from(part))))
  return socket
}

async function answerTo(...parts: (string | Buffer)[]): Promise<string> {
  asked = []
  return (await buffer(open(...parts))).toString()
}

const close = 'connection: close\r\n'
const chunked = 'transfer-encoding: chunked\r\n\r\n'

test.each([
  ['with its length', (body: string) => withLength(body) + body],
  ['in one chunk', (body: string) => `${chunked}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`],
  [
    'in chunks',
    (body: string) => `${chunked}1\r\n{\r\n${(body.length - 1).toString(16)}\r\n${body.slice(1)}\r\n0\r\n\r\n`,
  ],
])('a body that comes with its head, %s, is read to its end', async (_, write) => {
  expect(await answerTo(setEmail(json + close), write('{"email":"whole@example.com"}'))).toMatch(/^HTTP\/1.1 200 /)
  expect(asked).toEqual(['whole@example.com'])
})

test('bodies of requests that come together stay apart', async () => {
  const [one, other] = ['{"email":"one@example.com"}', '{"email":"other@example.com"}']
  const answer = await answerTo(setEmail() + withLength(one) + one, setEmail(json + close) + withLength(other) + other)
  expect(answer.match(/HTTP\/1.1 200 /g)).toHaveLength(2)
  expect(asked).toEqual(['one@example.com', 'other@example.com'])
})

test.each(['content-length', 'chunks'])('a body that comes with its head has the same limit, by %s', async (by) => {
  const body = `{"loginName":"${'x'.repeat(1100)}","password":"x"}`
  const framed =
    by === 'chunks' ? `${chunked}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : withLength(body) + body
  const path = '/v2/sessions'
  const answer = await answerTo(head(path, `content-type: application/json\r\n${close}`), framed)
  expect(answer).toMatch(/^HTTP\/1.1 413 [^]*REQUEST_TOO_LARGE/)
})

test('a body that has come counts as what it is, and no longer as what may still come', async () => {
  const all = Promise.withResolvers<void>()
  beforeAnswer = () => all.promise
  asked = []
  const sockets = Array.from({ length: 150 }, (_, n) => {
    const body = `{"email":"n${n}@example.com"}`
    return [setEmail(json + close), withLength(body), body]
  })
  const answers: Promise<Buffer>[] = []
  for (const [n, parts] of sockets.entries()) {
    answers.push(buffer(open(...parts)))
    await vi.waitFor(() => expect(asked).toHaveLength(n + 1), { interval: 1, timeout: 5000 })
  }
  all.resolve()
  beforeAnswer = () => Promise.resolve()
  for (const answer of await Promise.all(answers)) expect(answer.toString()).toMatch(/^HTTP\/1.1 200 /)
})

const packed = gzipSync('{"email":"packed@example.com"}')
const form = 'content-type: application/x-www-form-urlencoded\r\n'

test.each([
  ['gzip, chunked', 'transfer-encoding: gzip, chunked\r\n'],
  ['gzip and then chunked in two headers', 'transfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n'],
  ['chunked twice', 'transfer-encoding: chunked, chunked\r\n'],
])('a transfer coding of %s is refused by the name of its header, and reaches no service', async (_, coding) => {
  for (const plain of [Buffer.from('{"email":"a@example.com"}'), packed]) {
    const body = [`${plain.length.toString(16)}\r\n`, plain, '\r\n0\r\n\r\n']
    const answer = await answerTo(setEmail(json + close), `${coding}\r\n`, ...body)
    expect(answer).toMatch(/^HTTP\/1.1 (501 [^]*header transfer-encoding|400 [^]*HTTP_MALFORMED)/)
    expect(asked).toEqual([])
  }
})

test.each(['gzip', 'GZIP', 'br', 'gzip, identity'])(
  'a content coding of %s is refused by name in JSON',
  async (coding) => {
    const headers = `${json}${close}content-encoding: ${coding}\r\n`
    const answer = await answerTo(setEmail(headers), withLength(packed), packed)
    expect(answer).toMatch(/^HTTP\/1.1 415 [^]*header content-encoding[^]*CONTENT_ENCODING_UNSUPPORTED/)
    expect(answer).toMatch(/^accept-encoding: identity\r$/m)
    expect(asked).toEqual([])
  },
)

test('a content coding is refused in a form, and identity is none', async () => {
  const headers = `${form}${close}content-encoding: gzip\r\n`
  const refused = await answerTo(head('/oauth/v2/token', headers), withLength(packed), packed)
  expect(refused).toMatch(/^HTTP\/1.1 4\d\d [^]*"error":[^]*header content-encoding/)
  const body = '{"email":"plain@example.com"}'
  const taken = await answerTo(setEmail(`${json}${close}content-encoding: identity\r\n`), withLength(body), body)
  expect(taken).toMatch(/^HTTP\/1.1 200 /)
})
