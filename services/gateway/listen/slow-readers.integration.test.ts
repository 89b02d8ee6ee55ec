import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { frameOf, send } from '../testing/test-client.ts'
import { startTestGateway } from '../testing/test-gateway.ts'

const timeouts = { HEADERS_TIMEOUT_MS: '200', REQUEST_TIMEOUT_MS: '400', KEEP_ALIVE_TIMEOUT_MS: '400' }

test('a client that never reads its answers is cut off', async () => {
  const big = { userId: 'x'.repeat(900_000) }
  const operations = { 'roster.users.v1.UserService.GetUser': () => ({ user: big }) }
  const gateway = await startTestGateway(operations, { ...timeouts, MAX_CONNECTIONS: '1' })
  onTestFinished(() => gateway.stop())
  const socket = connect(gateway.port, '127.0.0.1').pause()
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  // These are whole requests: one read takes them all, and their answers are more than the kernel holds.
  socket.write('GET /v2/users/u1 HTTP/1.1\r\nhost: a\r\nauthorization: Bearer admin\r\n\r\n'.repeat(16))
  await sleep(300)
  const isServed = () =>
    send(`${gateway.url}/healthz`).then(
      () => true,
      () => false,
    )
  expect(await isServed()).toBe(false)
  await expect.poll(isServed, { timeout: 6_000 }).toBe(true)
})

test('a client that waits long for an answer is not cut off', async () => {
  const subject = 'roster.users.v1.UserService.GetUser'
  const gateway = await startTestGateway({ [subject]: () => sleep(1_500, {}) }, timeouts)
  onTestFinished(() => gateway.stop())
  const headers = { authorization: 'Bearer admin' }
  expect((await send(`${gateway.url}/v2/users/u1`, { headers })).status).toBe(200)
})

test('a stream is dropped whose client stops reading after a long quiet', async () => {
  const happens = Promise.withResolvers<{ cursor: string }>()
  const operations = { 'roster.notifier.v1.EventService.WatchEvents': () => happens.promise }
  const gateway = await startTestGateway(operations, timeouts)
  onTestFinished(() => gateway.stop())
  const session = connectHttp2(gateway.url, { settings: { initialWindowSize: 0 } })
  onTestFinished(() => session.destroy())
  const path = '/roster.notifier.v1.EventService/WatchEvents'
  const type = 'application/grpc'
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': type,
    authorization: 'Bearer admin',
  })
  stream.on('error', () => {}).end(frameOf(Buffer.alloc(0)))
  await sleep(1_000)
  expect(stream.closed).toBe(false)
  happens.resolve({ cursor: 'c' })
  await expect.poll(() => stream.closed, { timeout: 5_000 }).toBe(true)
})
