import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { expect, onTestFinished, test } from 'vitest'
import { method } from '#lib/rpc/methods'
import { makeCertificate } from '../testing/certificate.ts'
import { send } from '../testing/test-client.ts'
import { startTestGateway } from '../testing/test-gateway.ts'

const setEmail = method('roster.users.v1.UserService.SetEmail')
const message = Buffer.from([0x0a, 1, 0x75, 0x12, 5, ...Buffer.from('a@b.c')])

async function start(operations: Parameters<typeof startTestGateway>[0], environment: Record<string, string> = {}) {
  const gateway = await startTestGateway(operations, environment)
  onTestFinished(() => gateway.stop())
  return gateway
}

function callGrpc(target: string, channel = credentials.createInsecure()): Promise<number> {
  const client = new Client(target, channel, { 'grpc.use_local_subchannel_pool': 1 })
  const metadata = new Metadata()
  metadata.set('authorization', 'Bearer admin')
  const same = (bytes: Buffer) => bytes
  const { promise, resolve } = Promise.withResolvers<number>()
  client.makeUnaryRequest(setEmail.path, same, same, message, metadata, (error) => resolve(error?.code ?? 0))
  return promise.finally(() => client.close())
}

test('with TLS, HTTP/1.1 and HTTP/2 share the port, and a client that offers both speaks HTTP/2', async () => {
  const { cert, key, ca, remove } = makeCertificate()
  onTestFinished(remove)
  const gateway = await start({ [setEmail.subject]: () => ({}) }, { TLS_CERT_FILE: cert, TLS_KEY_FILE: key })
  const { port } = gateway
  expect(await callGrpc(`localhost:${port}`, credentials.createSsl(Buffer.from(ca)))).toBe(0)

  const { promise, resolve, reject } = Promise.withResolvers<number>()
  request(`${gateway.url}/healthz`, { ca, servername: 'localhost' }, (response) =>
    resolve(response.resume().statusCode!),
  )
    .on('error', reject)
    .end()
  expect(await promise).toBe(200)

  const agreed = (ALPNProtocols?: string[]) => {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const socket = connectTls({
      port,
      host: '127.0.0.1',
      servername: 'localhost',
      ca,
      ...(ALPNProtocols && { ALPNProtocols }),
    })
    socket.on('secureConnect', () => resolve(socket.alpnProtocol)).on('error', () => resolve('refused'))
    return promise.finally(() => socket.destroy())
  }
  expect(await agreed(['h2', 'http/1.1'])).toBe('h2')
  expect(await agreed(['http/1.1', 'h2'])).toBe('h2')
  expect(await agreed(['h2'])).toBe('h2')
  expect(await agreed(['http/1.1'])).toBe('http/1.1')
  expect(await agreed()).toBe(false)
  expect(await agreed(['spdy/3'])).toBe('refused')

  const session = connectHttp2(gateway.url, { ca, servername: 'localhost' })
  const stream = session.request({
    ':method': 'POST',
    ':path': '/v2/users/u/email',
    authorization: 'Bearer admin',
    'content-type': 'application/json',
  })
  stream.end('{"email":"a@b.c"}')
  expect(JSON.parse(await text(stream))).toEqual({})
  session.close()

  const plain = connect(port, '127.0.0.1')
  plain.end('GET /healthz HTTP/1.1\r\n\r\n')
  expect((await buffer(plain)).toString()).not.toContain('200')
  expect(await callGrpc(`localhost:${port}`, credentials.createSsl(Buffer.from(ca)))).toBe(0)
})

test('a renewed certificate counts for new connections, half a renewed pair does not, and open ones go on', async () => {
  const [former, renewed] = [makeCertificate(), makeCertificate()]
  onTestFinished(() => [former, renewed].forEach(({ remove }) => remove()))
  const gateway = await start({}, { TLS_CERT_FILE: former.cert, TLS_KEY_FILE: former.key })
  const open = () => {
    const socket = connectTls({ port: gateway.port, host: '127.0.0.1', rejectUnauthorized: false })
    onTestFinished(() => void socket.destroy())
    return once(socket, 'secureConnect').then(() => socket)
  }
  const shown = async () => (await open()).getPeerX509Certificate()!.toString()
  const textOf = ({ ca }: { ca: string }) => new X509Certificate(ca).toString()
  const kept = await open()
  copyFileSync(renewed.cert, former.cert)
  const refused = () => gateway.log.filter(({ level }) => level === 50)
  const soon = { timeout: 10_000 }
  await expect.poll(async () => [await shown(), refused().length], soon).toEqual([textOf(former), 1])
  copyFileSync(renewed.key, former.key)
  await expect.poll(shown, soon).toBe(textOf(renewed))
  expect(refused()).toHaveLength(1)
  kept.end('GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
  expect(await text(kept)).toContain('200 OK')
})

test('the protocol is recognized also where its first bytes arrive one by one', async () => {
  const gateway = await start({ [setEmail.subject]: () => ({}) })
  const drip = async (text: string) => {
    const socket = connect({ port: gateway.port, host: '127.0.0.1', noDelay: true })
    const answer = buffer(socket)
    for (const letter of text) {
      socket.write(letter)
      await new Promise((resolve) => setTimeout(resolve, 3))
    }
    socket.end()
    return answer
  }
  const settings = '\0\0\0\x04\0\0\0\0\0'
  expect((await drip('PUT /nope HTTP/1.1\r\nconnection: close\r\n\r\n')).toString()).toContain('404')
  expect((await drip(`PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${settings}`))[3]).toBe(4)
  expect((await drip('PRI * HTTP/1.1\r\nconnection: close\r\n\r\n')).toString()).toContain('400')
})

test('stopping refuses new connections at once and lets calls under way end, in every encoding', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  let underWay = 0
  const gateway = await start({ [setEmail.subject]: () => (underWay++, held.then(() => ({}))) })
  const silent = connect(gateway.port, '127.0.0.1')
  const kept = connect(gateway.port, '127.0.0.1')
  const answer = buffer(kept).then(String)
  const head = ['POST /v2/users/u/email HTTP/1.1', 'authorization: Bearer admin', 'content-type: application/json']
  kept.write([...head, 'content-length: 17', '', '{"email":"a@b.c"}'].join('\r\n'))
  const grpc = callGrpc(`127.0.0.1:${gateway.port}`)
  await expect.poll(() => underWay).toBe(2)
  const stopped = gateway.stopGateway()
  await expect(send(gateway.url, { path: '/healthz' })).rejects.toThrow()
  kept.write('GET /readyz HTTP/1.1\r\n\r\n')
  const started = performance.now()
  release()
  expect(await grpc).toBe(0)
  expect(await answer).toMatch(/^HTTP\/1.1 200 [^]*HTTP\/1.1 503 [^]*connection: close[^]*"missing":\["gateway"\]/i)
  await stopped
  expect(performance.now() - started).toBeLessThan(2000)
  silent.destroy()
})

test('stopping does not wait for idle connections', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const gateway = await start({ [setEmail.subject]: () => held.then(() => ({})) })
  const kept = connect(gateway.port, '127.0.0.1')
  const ended = buffer(kept)
  const head = ['POST /v2/users/u/email HTTP/1.1', 'authorization: Bearer admin', 'content-type: application/json']
  kept.write([...head, 'content-length: 17', '', '{"email":"a@b.c"}'].join('\r\n'))
  await new Promise((resolve) => setTimeout(resolve, 200))
  const stopped = gateway.stopGateway()
  release()
  const started = performance.now()
  expect(String(await ended)).toMatch(/^HTTP\/1.1 200 /)
  await stopped
  expect(performance.now() - started).toBeLessThan(2000)
})

test('stopping waits no longer than the drain time for calls that do not end', async () => {
  const gateway = await start({ [setEmail.subject]: () => new Promise(() => {}) }, { DRAIN_TIMEOUT_MS: '300' })
  const grpc = callGrpc(`127.0.0.1:${gateway.port}`)
  await new Promise((resolve) => setTimeout(resolve, 200))
  const started = performance.now()
  await gateway.stopGateway()
  expect(performance.now() - started).toBeLessThan(3000)
  expect(await grpc).not.toBe(0)
})
