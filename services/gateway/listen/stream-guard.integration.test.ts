import { spawn } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { floods, keyOf } from '../../../bench/floods/kinds.ts'
import { head, hello, resetRequests } from '../testing/raw-frames.ts'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

/** How many streams of other clients Node made, and how many of them in one turn at the most. */
let [made, inTurn, mostInTurn] = [0, 0, 0]
let gateway: TestGateway

function count() {
  made++
  if (++inTurn === 1) setImmediate(() => (inTurn = 0))
  mostInTurn = Math.max(mostInTurn, inTurn)
}
const channel = 'http2.server.stream.created'
beforeEach(() => {
  ;[made, inTurn, mostInTurn] = [0, 0, 0]
  subscribe(channel, count)
})
afterEach(() => unsubscribe(channel, count))
beforeAll(
  async () =>
    (gateway = await startTestGateway(
      { 'roster.users.v1.UserService.GetUser': () => ({}) },
      { MAX_CONNECTIONS_PER_ADDRESS: '30' },
    )),
)
afterAll(() => gateway.stop())

/** Writes the bytes in one piece, and gives the rest of what came back once the connection is closed. */
async function attack(bytes: Buffer, localAddress = '127.0.0.1', before?: Buffer): Promise<void> {
  const socket = connect({ port: gateway.port, host: '127.0.0.1', localAddress })
  onTestFinished(() => void socket.destroy())
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  socket.on('error', () => {})
  if (before) {
    socket.write(before)
    await once(socket, 'data')
  }
  socket.resume().write(bytes)
  await closed
}

test.each([
  ['cancelled', 130],
  ['withdrawn', 130],
  // Those count as under way until the gateway has written: the others of the same bytes are refused.
  ['broken', 250],
] as const)(
  'requests that are %s by the bytes behind them end their connection before it has cost much, from the first byte on',
  async (reset, most) => {
    await attack(Buffer.concat([hello, resetRequests(20_000, reset)]))
    expect(made).toBeGreaterThanOrEqual(100)
    expect(made).toBeLessThan(most)
    await attack(resetRequests(20_000, reset), '127.0.0.2', hello)
    expect(made).toBeLessThan(2 * most)
  },
)

test('strangers together open few streams in a turn, however many connect, and others are served meanwhile', async () => {
  const flood = floods.find(({ connections }) => connections === 20)!
  const program = fileURLToPath(new URL('../../../bench/floods/flood.ts', import.meta.url))
  const attacker = spawn(process.execPath, [program, String(gateway.port), keyOf(flood), '1'], { stdio: 'inherit' })
  onTestFinished(() => void attacker.kill())
  await expect.poll(() => made).toBeGreaterThan(0)
  while (attacker.exitCode === null) expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
  // The last may reach the bound of one connection, and this may count two turns of the guard as one.
  expect(mostInTurn).toBeLessThan(2 * (64 + 120))
})

test('of connections that all ask at the same moment some are read in a later turn', async () => {
  const sockets = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const socket = connect({ port: gateway.port, host: '127.0.0.1', localAddress: '127.0.0.5' })
      onTestFinished(() => void socket.destroy())
      socket.write(Buffer.concat([hello, head(0)]))
      await once(socket, 'data')
      return socket.resume()
    }),
  )
  ;[made, mostInTurn] = [0, 0]
  const requests = Buffer.concat(Array.from({ length: 90 }, (_, n) => head(n + 1)))
  for (const socket of sockets) socket.write(requests)
  await expect.poll(() => made).toBe(20 * 90)
  expect(mostInTurn).toBeLessThan(2 * (64 + 120))
})

test('connections that all begin at the same moment are served, also those that await the settings before they ask', async () => {
  const sockets = Array.from({ length: 20 }, () => {
    const socket = connect({ port: gateway.port, host: '127.0.0.1', localAddress: '127.0.0.6' })
    onTestFinished(() => void socket.destroy())
    return socket
  })
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  // The gateway has accepted all of them by then.
  expect((await fetch(`${gateway.url}/healthz`, { headers: { connection: 'close' } })).status).toBe(200)
  for (const socket of sockets) socket.write(hello)
  await Promise.all(sockets.map((socket) => once(socket, 'data')))
  ;[made] = [0]
  for (const socket of sockets) socket.write(head(0))
  await expect.poll(() => made).toBe(20)
})

test('connections that all end at the same moment leave nothing behind, also where they waited to be served', async () => {
  for (let round = 0; round < 3; round++) {
    const sockets = Array.from({ length: 25 }, () =>
      connect({ port: gateway.port, host: '127.0.0.1', localAddress: '127.0.0.7' }),
    )
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    expect((await fetch(`${gateway.url}/healthz`, { headers: { connection: 'close' } })).status).toBe(200)
    for (const socket of sockets) socket.resume().end(hello)
    await Promise.all(sockets.map((socket) => once(socket, 'close')))
  }
  // An address may have 30 at a time.
  expect(await ask(join('127.0.0.7'))).toBe(200)
})

test('the connections of an address that had many streams reset may open few without a token, and as many with one', async () => {
  // More than the address may have at a time: none of them is left over.
  for (let n = 0; n < 40; n++) await attack(Buffer.concat([hello, resetRequests(769, 'cancelled')]), '127.0.0.3')
  const [before] = [made]
  await attack(Buffer.concat([hello, ...Array.from({ length: 40 }, (_, n) => head(n))]), '127.0.0.3')
  expect(made - before).toBeLessThan(10)
  const caller = join('127.0.0.3')
  expect(await ask(caller)).toBe(200)
  expect(await Promise.all(Array.from({ length: 40 }, () => ask(caller)))).toEqual(Array(40).fill(200))
})

test.each([
  ['a client that has answers', {}],
  ['a client that asks for heads', { ':method': 'HEAD' }],
])('%s, one after the other, is not counted as one that resets', async (_name, headers) => {
  const client = join('127.0.0.4')
  for (let n = 0; n < 300; n++) expect(await ask(client, headers)).toBe(200)
  expect(client.closed).toBe(false)
})

function join(localAddress: string): ClientHttp2Session {
  const socket = connect({ port: gateway.port, host: '127.0.0.1', localAddress })
  const session = connectHttp2(gateway.url, { createConnection: () => socket })
  onTestFinished(() => session.destroy())
  return session.on('error', () => {})
}

async function ask(session: ClientHttp2Session, headers: Record<string, string> = {}): Promise<number> {
  const stream = session.request({ ':path': '/v2/users/u1', authorization: 'Bearer admin', ...headers })
  const [answer] = (await once(stream.resume(), 'response')) as [Record<string, number>]
  return answer[':status']!
}
