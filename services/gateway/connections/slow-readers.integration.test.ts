import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { send } from '../testing/test-client.ts'
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
