import { connect } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startTestMetrics } from '#test/support/metrics'
import { send } from '../testing/test-client.ts'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

const read = startTestMetrics()
let gateway: TestGateway
/** Another, that soon stops waiting. */
let hasty: TestGateway

beforeAll(async () => {
  const mebibyte = 1024 * 1024
  gateway = await startTestGateway(
    {},
    { UNDER_WAY_BYTES: String(512 * mebibyte), UNDER_WAY_BYTES_PER_CONNECTION: String(64 * mebibyte) },
  )
  hasty = await startTestGateway({}, { HEADERS_TIMEOUT_MS: '500', REQUEST_TIMEOUT_MS: '500' })
})
afterAll(() => Promise.all([gateway.stop(), hasty.stop()]))

const [data, headers, reset, settings, ping, windowUpdate] = [0, 1, 3, 4, 6, 8]
const [ended, headEnded] = [1, 4]

interface Frame {
  type: number
  flags: number
  stream: number
  payload: Buffer
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.set([type, flags], 3)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** The head of a request, each field as a literal of HPACK without an index. */
function head(verb: string, path: string, type = 'application/json'): Buffer {
  const fields = { ':method': verb, ':path': path, ':scheme': 'http', ':authority': 'a', 'content-type': type }
  const literal = (text: string) => Buffer.from([text.length, ...Buffer.from(text)])
  return Buffer.concat(
    Object.entries(fields).flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]),
  )
}

/** A connection with large windows whose frames are seen as they came. */
function open({ port } = gateway) {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const frames: Frame[] = []
  let unread = Buffer.alloc(0)
  socket
    .on('error', () => {})
    .on('data', (bytes: Buffer) => {
      unread = Buffer.concat([unread, bytes])
      for (let length = 0; unread.length >= 9 && unread.length >= 9 + (length = unread.readUIntBE(0, 3));) {
        const [type, flags, stream] = [unread[3]!, unread[4]!, unread.readUInt32BE(5)]
        frames.push({ type, flags, stream, payload: unread.subarray(9, 9 + length) })
        unread = unread.subarray(9 + length)
      }
    })
  const most = number(2 ** 30)
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  socket.write(frame(settings, 0, 0, Buffer.concat([Buffer.from([0, 4]), most])))
  socket.write(frame(windowUpdate, 0, 0, most))
  const of = (stream: number) => frames.filter((one) => one.stream === stream && one.type !== windowUpdate)
  return {
    socket,
    of,
    /** How the answer of a stream went on, such as `headers data end reset 0`. */
    course: (stream: number) =>
      of(stream)
        .map(({ type, flags, payload }) =>
          type === reset
            ? `reset ${payload.readUInt32BE()}`
            : `${type === headers ? 'headers' : 'data'}${flags & ended ? ' end' : ''}`,
        )
        .join(' ')
        .replace(/(data )+(?=data)/, ''),
    /** How many bytes more may be sent over a stream, or over all. */
    updates: (stream: number) =>
      frames
        .filter((one) => one.type === windowUpdate && one.stream === stream)
        .reduce((sum, { payload }) => sum + payload.readUInt32BE(), 0),
    /** Waits until the gateway has seen all that was sent so far. */
    async roundTrip() {
      const answers = () => frames.filter(({ type }) => type === ping).length
      const before = answers()
      socket.write(frame(ping, 0, 0, Buffer.alloc(8)))
      await expect.poll(answers).toBe(before + 1)
    },
  }
}

const email = '/v2/users/u1/email'
const grpcEmail = '/roster.users.v1.UserService/SetEmail'

test.each([
  ['a probe', head('GET', '/healthz'), '"ok"'],
  ['a document', head('GET', '/openapi.json'), '"openapi"'],
  ['a page', head('GET', '/ui/verify-email'), '<html'],
  ['401', head('POST', email), 'TOKEN_MISSING'],
  ['404', head('POST', '/nope'), 'PATH_NOT_FOUND'],
  ['405', head('DELETE', email), 'METHOD_NOT_ALLOWED'],
  ['415', head('POST', '/v2/sessions', 'text/plain'), 'CONTENT_TYPE_UNSUPPORTED'],
  ['an error of gRPC-web', head('POST', grpcEmail, 'application/grpc-web'), 'grpc-status:16'],
  ['an error of gRPC', head('POST', grpcEmail, 'application/grpc'), ''],
  ['the answer to a HEAD', head('HEAD', '/healthz'), ''],
])('%s is whole; only then is the request of a client that never ends it reset', async (_name, fields, text) => {
  const { socket, of, course, roundTrip } = open(hasty)
  socket.write(frame(headers, ended | headEnded, 1, fields))
  await expect.poll(() => course(1)).toMatch(/ end/)
  await roundTrip()
  const whole = course(1)
  expect(whole).toMatch(/^headers( data)?( data)? end$/)
  expect(
    Buffer.concat(of(1).map(({ type, payload }) => (type === data ? payload : Buffer.alloc(0)))).toString(),
  ).toContain(text)

  socket.write(frame(headers, headEnded, 3, fields))
  await expect.poll(() => course(3), { timeout: 10_000 }).toMatch(/^headers.* end reset 0$/)
})

test('answers are whole also where many wait behind a client that reads late and goes on sending', async () => {
  const { socket, course } = open()
  const streams = Array.from({ length: 40 }, (_, at) => 2 * at + 1)
  socket.pause()
  for (const stream of streams) socket.write(frame(headers, headEnded, stream, head('GET', '/openapi.json')))
  for (const stream of streams) socket.write(frame(data, 0, stream, Buffer.alloc(1_000)))
  // Others are served meanwhile, and by then the gateway has no more room for these answers.
  for (let times = 0; times < 3; times++) expect((await send(`${gateway.url}/healthz`)).status).toBe(200)
  socket.resume()
  const ends = () => streams.map((stream) => course(stream))
  const whole = streams.map(() => expect.stringMatching(/^headers data( data)? end reset 0$/))
  await expect.poll(ends, { timeout: 30_000 }).toEqual(whole)
})

test('of the streams of a connection that go on after their answers, four are read on, and the others reset at once', async () => {
  const { socket, course, roundTrip } = open()
  const streams = Array.from({ length: 12 }, (_, at) => 2 * at + 1)
  for (const stream of streams) socket.write(frame(headers, headEnded, stream, head('GET', '/healthz')))
  const resets = () => streams.filter((stream) => course(stream).includes('reset')).length
  await expect.poll(resets, { interval: 5 }).toBe(8)
  await roundTrip()
  expect(resets()).toBe(8)
  await expect.poll(resets, { timeout: 30_000 }).toBe(12)
  for (const stream of streams) expect(course(stream)).toMatch(/^headers data( data)? end reset 0$/)
})

test('nothing is kept of requests that end after their answers, whether they are read on or not', async () => {
  const { socket, course } = open(hasty)
  const underWay = async () => Math.max(...Object.values(await read('roster.gateway.bytes_under_way')))
  await expect.poll(underWay, { timeout: 30_000 }).toBe(0)
  const streams = Array.from({ length: 12 }, (_, at) => 2 * at + 1)
  const heads = streams.map((stream) => frame(headers, headEnded, stream, head('POST', '/nope')))
  // The first requests go on, so that those after them are not read on.
  const bodies = streams.map((stream, at) => frame(data, at < 4 ? 0 : ended, stream, Buffer.alloc(1_000)))
  socket.write(Buffer.concat([...heads, ...bodies]))
  await expect.poll(underWay, { interval: 1 }).toBeGreaterThan(0)
  await expect.poll(() => streams.filter((stream) => course(stream).includes('end')).length).toBe(12)
  await expect.poll(underWay, { timeout: 30_000 }).toBe(0)
})

test('a client that looks at its answer only once all of its body was sent can send all of it', async () => {
  const { socket, course, updates, roundTrip } = open()
  const piece = 10_000
  let left = 2_000_000
  socket.write(frame(headers, headEnded, 1, head('POST', '/v2/sessions')))
  for (let sent = 0; left > 0; sent += piece) {
    // Both windows have 65,535 bytes at first.
    await expect.poll(() => Math.min(updates(0), updates(1)) + 65_535, { interval: 1 }).toBeGreaterThan(sent + piece)
    left -= piece
    socket.write(frame(data, left === 0 ? ended : 0, 1, Buffer.alloc(piece, ' ')))
  }
  await roundTrip()
  expect(course(1)).toMatch(/^headers data( data)? end$/)
})
