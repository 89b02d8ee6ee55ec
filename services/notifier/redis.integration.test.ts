import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createWaits } from '#lib/health/waits'
import { keepingLog } from '#test/support/rpc'
import { connectRedis } from './redis.ts'

test('the log does not show a password that Redis refuses', async () => {
  // Answers each command, an array of strings, like a server with another password.
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      for (const _ of bytes.toString().matchAll(/^\*\d+\r$/gm))
        socket.write('-WRONGPASS invalid username-password pair or user is disabled.\r\n')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { log, lines } = keepingLog()
  const { port } = server.address() as AddressInfo
  const redis = connectRedis(`redis://roster:secretOfRedis@127.0.0.1:${port}`, createWaits(log))
  onTestFinished(() => redis.disconnect())
  await expect.poll(() => lines.join(''), { timeout: 5000 }).toContain('WRONGPASS')
  expect(lines.join('')).not.toContain('secretOfRedis')
})
