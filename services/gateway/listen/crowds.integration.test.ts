import { once } from 'node:events'
import { createServer, IncomingMessage } from 'node:http'
import { connect as connectHttp2, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { startTestMetrics } from '#test/support/metrics'
import { frameOf, send } from '../testing/test-client.ts'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'
import { inOrder } from './http1-requests.ts'

const read = startTestMetrics()

async function start(environment: Record<string, string>) {
  const gateway = await startTestGateway({}, environment)
  onTestFinished(() => gateway.stop())
  return gateway
}

/** Opens a connection, keeps it, and says whether the gateway refused it. */
async function join({ port }: TestGateway, localAddress: string, host = '127.0.0.1'): Promise<[Socket, boolean]> {
  const socket = connect({ port, host, localAddress })
  onTestFinished(() => void socket.destroy())
  const { promise, resolve } = Promise.withResolvers<boolean>()
  socket.on('error', () => {}).on('close', () => resolve(true))
  socket.on('data', () => resolve(false))
  socket.write('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n')
  return [socket, await promise]
}

test('an address gets no more connections than configured while others get theirs, and a closed one makes room', async () => {
  const gateway = await start({ MAX_CONNECTIONS_PER_ADDRESS: '2' })
  const [[first, one], [, two], [, three]] = [
    await join(gateway, '127.0.0.1'),
    await join(gateway, '127.0.0.1'),
    await join(gateway, '127.0.0.1'),
  ]
  expect([one, two, three]).toEqual([false, false, true])
  expect((await join(gateway, '127.0.0.2'))[1]).toBe(false)
  expect(gateway.log.filter(({ limit }) => limit === 2)).toHaveLength(1)
  first.destroy()
  await expect.poll(async () => (await join(gateway, '127.0.0.1'))[1]).toBe(false)
})

test('connections beyond all that the gateway takes are closed, and counted as those of an address are', async () => {
  const count = async () => (await read('roster.limit.hits'))['connections']!
  const before = await count()
  const gateway = await start({ MAX_CONNECTIONS: '1' })
  expect((await join(gateway, '127.0.0.1'))[1]).toBe(false)
  expect((await join(gateway, '127.0.0.2'))[1]).toBe(true)
  expect(await count()).toBe(before + 1)
  const other = await start({ MAX_CONNECTIONS_PER_ADDRESS: '1' })
  expect((await join(other, '127.0.0.1'))[1]).toBe(false)
  expect((await join(other, '127.0.0.1'))[1]).toBe(true)
  expect(await count()).toBe(before + 2)
})

test('an IPv4 address in the notation of IPv6 is the same address', async () => {
  const gateway = await start({ MAX_CONNECTIONS_PER_ADDRESS: '1', HOST: '::' })
  expect((await join(gateway, '127.0.0.1'))[1]).toBe(false)
  expect((await join(gateway, '127.0.0.1'))[1]).toBe(true)
})

test('behind proxies, where all clients share connections, they are not counted', async () => {
  const gateway = await start({ MAX_CONNECTIONS_PER_ADDRESS: '1', TRUSTED_PROXIES: '1' })
  for (let i = 0; i < 3; i++) expect((await join(gateway, '127.0.0.1'))[1]).toBe(false)
})

function watch(gateway: TestGateway, localAddress: string, path: string, message: Uint8Array, times: number) {
  const socket = connect({ port: gateway.port, host: '127.0.0.1', localAddress })
  const session = connectHttp2(gateway.url, { createConnection: () => socket })
  session.on('error', () => {})
  onTestFinished(() => session.destroy())
  const answers: (string | undefined)[] = []
  const ask = (): ClientHttp2Stream => {
    const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc' })
    stream.on('response', (head: IncomingHttpHeaders) => answers.push(head['grpc-status'] as string | undefined))
    stream.on('error', () => {}).resume()
    stream.write(frameOf(message))
    // A watch begins once its request is whole, a reflection with its first message.
    if (path.includes('health')) stream.end()
    return stream
  }
  return { answers, streams: Array.from({ length: times }, ask), ask }
}

test.each([
  ['health', '/grpc.health.v1.Health/Watch', Buffer.alloc(0)],
  ['reflection', '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', Buffer.from([0x3a, 0])],
])(
  'of clients without a token that keep watching %s only some are served, and no other client waits for them',
  async (_name, path, message) => {
    const gateway = await start({ UNDER_WAY_BYTES: String(16 * 1024 * 1024) })
    const { answers, streams, ask } = watch(gateway, '127.0.0.1', path, message, 90)
    await expect.poll(() => answers.length).toBe(90)
    const served = answers.filter((status) => status === undefined).length
    expect(served).toBeGreaterThan(5)
    expect(served).toBeLessThan(20)
    expect(new Set(answers)).toEqual(new Set([undefined, '8']))
    expect(watch(gateway, '127.0.0.2', path, message, 1).answers).toEqual([])
    const other = watch(gateway, '127.0.0.2', path, message, 1)
    await expect.poll(() => other.answers).toEqual([undefined])
    // Their share is their own: calls of the same address are served.
    expect((await send(`${gateway.url}/healthz`)).status).toBe(200)
    for (const stream of streams) stream.close()
    await expect
      .poll(() => {
        ask()
        return answers.at(-1)
      })
      .toBe(undefined)
  },
)

test('more calls than allowed at once on one connection wait for each other', async () => {
  const gateway = await start({ MAX_STREAMS_PER_CONNECTION: '3' })
  const session = connectHttp2(gateway.url)
  onTestFinished(() => session.destroy())
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  session.on('remoteSettings', ({ maxConcurrentStreams }) => resolve(maxConcurrentStreams))
  expect(await promise).toBe(3)
})

test('the gateway serves others under pings, settings, resets and heads without end', async () => {
  const gateway = await start({})
  const attack = (frames: Buffer) => {
    const socket = connect(gateway.port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {}).resume()
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]))
    socket.write(frames)
    return new Promise((resolve) => socket.once('close', resolve))
  }
  const frame = (type: number, flags: number, stream: number, payload: Uint8Array) => {
    const head = Buffer.alloc(9)
    head.writeUIntBE(payload.length, 0, 3)
    head.set([type, flags], 3)
    head.writeUInt32BE(stream, 5)
    return Buffer.concat([head, payload])
  }
  const literal = (text: string) => [text.length, ...Buffer.from(text)]
  const pairs = [':method', 'POST', ':scheme', 'http', ':authority', 'a', ':path', '/v2/sessions']
  const fields = Buffer.from(pairs.flatMap((text, at) => (at % 2 ? literal(text) : [0, ...literal(text)])))
  const resets = Array.from({ length: 3_000 }, (_, at) =>
    Buffer.concat([frame(1, 4, 2 * at + 1, fields), frame(3, 0, 2 * at + 1, Buffer.from([0, 0, 0, 8]))]),
  )
  const more = Buffer.concat(
    Array.from({ length: 60 }, (_, at) => Buffer.from([0, ...literal(`x-${at}`), ...literal('y'.repeat(120))])),
  )
  await Promise.all([
    attack(Buffer.concat(resets)),
    // Acknowledgements that no client reads would pile up if nothing counted them.
    attack(Buffer.concat([frame(1, 0, 1, fields), ...Array.from({ length: 300 }, () => frame(9, 0, 1, more))])),
  ])
  const pings = connect(gateway.port, '127.0.0.1').pause()
  onTestFinished(() => void pings.destroy())
  pings.on('error', () => {}).write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  pings.write(
    Buffer.concat(
      Array.from({ length: 50_000 }, (_, at) =>
        at % 2 ? frame(4, 0, 0, Buffer.alloc(0)) : frame(6, 0, 0, Buffer.alloc(8)),
      ),
    ),
  )
  expect((await send(`${gateway.url}/healthz`)).status).toBe(200)
})

const closed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve))
const getUser = 'roster.users.v1.UserService.GetUser'
const ask = (id: string | number, more = '') =>
  `GET /v2/users/${id} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer admin\r\n${more}\r\n`
const statuses = (answer: Buffer) => answer.toString().match(/HTTP\/1\.1 \d+/g)

test('requests of one connection that come at once are handled one after the other, also those with expectations', async () => {
  let [atOnce, most] = [0, 0]
  const order: unknown[] = []
  const gateway = await startTestGateway({
    [getUser]: async ({ userId }) => {
      order.push(userId)
      most = Math.max(most, ++atOnce)
      await new Promise((resolve) => setImmediate(resolve))
      atOnce--
      return {}
    },
  })
  onTestFinished(() => gateway.stop())
  const socket = connect(gateway.port, '127.0.0.1')
  const more = ['', 'expect: nothing\r\n', '', 'expect: 100-continue\r\n']
  const asked = Array.from({ length: 16 }, (_, at) => ask(at, at < 15 ? more[at % 4] : 'connection: close\r\n'))
  socket.write(asked.join(''))
  const answers = statuses(await buffer(socket))!
  expect(answers.filter((status) => status.endsWith(' 200'))).toHaveLength(16)
  expect(order).toEqual(Array.from({ length: 16 }, (_, at) => String(at)))
  expect(most).toBe(1)
})

test('a waiting request is dropped once its client has gone, or behind the last answer of its connection', async () => {
  const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const asked: unknown[] = []
  const gateway = await startTestGateway({
    [getUser]: async ({ userId }) => {
      asked.push(userId)
      begun.resolve()
      await go.promise
      return {}
    },
  })
  onTestFinished(() => gateway.stop())
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => {})
  socket.write(ask('first') + ask('waits'))
  await begun.promise
  socket.resetAndDestroy()
  await expect.poll(() => gateway.log.some(({ reason }) => reason === 'CANCELLED')).toBe(true)
  go.resolve()
  const last = connect(gateway.port, '127.0.0.1')
  last.write(ask('last', 'connection: close\r\n') + ask('behind'))
  expect((await buffer(last)).toString().match(/HTTP\/1\.1 200/g)).toHaveLength(1)
  expect(asked).toEqual(['first', 'last'])
})

test.each([
  ['a thousand requests at once', ask('u').repeat(1_000)],
  ['a few with much to read', `${ask('u', 'content-length: 60000\r\n')}${'x'.repeat(60_000)}`.repeat(6)],
])('a connection that sends %s while a call is under way is cut off, and its call ends', async (_name, text) => {
  const gateway = await startTestGateway({ [getUser]: () => new Promise(() => {}) })
  onTestFinished(() => gateway.stop())
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => {})
  socket.resume().write(ask('first') + text)
  await closed(socket)
  await expect.poll(() => gateway.log.filter(({ msg }) => msg === 'call')).toMatchObject([{ reason: 'CANCELLED' }])
})

test('of thousands of requests at once, only as many as may wait are parsed', async () => {
  let read = 0
  class Counted extends IncomingMessage {
    constructor(socket: Socket) {
      super(socket)
      read++
    }
  }
  const handled: unknown[] = []
  const server = createServer(
    { IncomingMessage: Counted },
    inOrder(({ url }) => void handled.push(url)),
  )
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  socket.resume().write('GET /x HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2_000))
  await closed(socket)
  expect(handled).toEqual(['/x'])
  expect(read).toBeLessThan(30)
})
