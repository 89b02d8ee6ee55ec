import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startTestReceiver } from '#test/support/receiver'
import { destinations } from '#lib/outbound/destinations'
import { post } from './post.ts'

const here = destinations.read('127.0.0.0/8,::1')
const elsewhere = destinations.read('10.0.0.0/8')
const never = new AbortController().signal
const refused = { status: undefined, error: 'no address that may be sent to' }

async function receiver() {
  const made = await startTestReceiver()
  onTestFinished(() => made.stop())
  return made
}

/** A server that does something with each connection. */
async function listen(work: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    work(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('an unknown name gets the same error as a name that leads to a forbidden address', async () => {
  const { url, received } = await receiver()
  const named = url.replace('127.0.0.1', 'localhost')
  expect(await post(named, {}, '{}', elsewhere, never, 15_000)).toEqual(refused)
  expect(received).toEqual([])
  expect(await post('https://no-one.invalid/', {}, '{}', here, never, 15_000)).toEqual(refused)
})

test.each([
  ['503', 503, '7', 7000],
  ['429', 429, '0', undefined],
  ['500', 500, '7', undefined],
])('%s with Retry-After %s', async (_name, status, text, expected) => {
  const { url, answer } = await receiver()
  answer(() => ({ status, headers: { 'retry-after': text } }))
  expect((await post(url, {}, '{}', here, never, 15_000)).retryAfter).toBe(expected)
})

test('an error holds no words of the other side', async () => {
  const talkative = await listen((socket) => socket.end('220 mail.internal ESMTP\r\n'))
  const rude = await listen((socket) => socket.destroy())
  expect((await post(`http://${talkative}/`, {}, '{}', here, never, 15_000)).error).toBe('no HTTP answer')
  expect((await post(`http://${rude}/`, {}, '{}', here, never, 15_000)).error).toBe('connection lost')
  expect((await post(`https://${talkative}/`, {}, '{}', here, never, 15_000)).error).toBe('TLS failed')
  expect((await post('http://127.0.0.1:1/', {}, '{}', here, never, 15_000)).error).toBe('connection refused')
})

test('an endless answer is cut', async () => {
  let closed = Promise.withResolvers<void>()
  const endless = await listen((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n')
    const timer = setInterval(() => socket.write('x'.repeat(10_000)), 1)
    socket.on('close', () => {
      clearInterval(timer)
      closed.resolve()
    })
  })
  expect((await post(`http://${endless}/`, {}, '{}', here, never, 15_000)).status).toBe(200)
  await closed.promise
})

test('a post that is aborted rejects: it is unknown whether the body arrived', async () => {
  const silent = await listen(() => {})
  const stop = new AbortController()
  const posted = post(`http://${silent}/`, {}, '{}', here, stop.signal, 15_000)
  stop.abort()
  await expect(posted).rejects.toThrow()
})

test('a receiver that is silent, or goes on and on with small pieces, is given up in time', async () => {
  const silent = await listen(() => {})
  const slow = await listen((socket) => {
    const timer = setInterval(() => socket.write('x'), 10)
    socket.write('HTTP/1.1 200 OK\r\nx-header: ')
    socket.on('close', () => clearInterval(timer))
  })
  for (const host of [silent, slow])
    expect((await post(`http://${host}/`, {}, '{}', here, never, 200)).error).toBe('timeout')
})
