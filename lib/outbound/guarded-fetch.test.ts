import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net'
import { allowInsecureRequests, customFetch, discoveryRequest, processDiscoveryResponse } from 'oauth4webapi'
import { describe, expect, onTestFinished, test } from 'vitest'
import { useNameServer } from '#test/support/upstreams/name-server'
import { destinations } from './destinations.ts'
import { guardedFetch } from './guarded-fetch.ts'

const here = destinations.read('127.0.0.0/8,::1')
const elsewhere = destinations.read('10.0.0.0/8')
const limits = { within: 15_000, mostBody: 1000 }
const get = guardedFetch(here, limits)

/** A server of HTTP, and the requests that it got. */
async function listen(answer: RequestListener): Promise<{ url: string; got: string[] }> {
  const got: string[] = []
  const server = createServer((request, response) => {
    got.push(`${request.method} ${request.url}`)
    answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, got }
}

/** A server that does something with each connection. */
async function listenRaw(work: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createSocketServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    work(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

describe.each([{ method: 'GET' }, { method: 'POST', body: '{}' }])('a $method', (request) => {
  const notAllowed = { code: 'NOT_ALLOWED' }

  test('is judged at the time of the connection: if the name leads to a private address, nothing is sent', async () => {
    const { url, got } = await listen((_, response) => response.end('yes'))
    const names = await useNameServer()
    onTestFinished(() => names.stop())
    const named = url.replace('127.0.0.1', 'app.example')
    await expect(guardedFetch(elsewhere, limits)(named, request)).rejects.toMatchObject(notAllowed)
    const https = named.replace('http:', 'https:')
    await expect(guardedFetch(destinations.default!, limits)(https, request)).rejects.toMatchObject(notAllowed)
    expect(got).toEqual([])
    expect(await (await get(named, request)).text()).toBe('yes')
  })

  test.each([
    '127.0.0.1',
    'localhost',
    '[::ffff:127.0.0.1]',
    '2130706433',
    '0x7f.1',
    '127.1',
    '127.0.0.1.',
    '0',
    'a:b@127.0.0.1',
  ])('is not sent to a private address itself: %s', async (host) => {
    const { url, got } = await listen((_, response) => response.end())
    const spelled = url.replace('127.0.0.1', host)
    await expect(guardedFetch(elsewhere, limits)(spelled, request)).rejects.toMatchObject(notAllowed)
    expect(got).toEqual([])
  })

  test('follows no redirect', async () => {
    const to = await listen((_, response) => response.end())
    const from = await listen((_, response) => response.writeHead(302, { location: to.url }).end())
    const answer = await get(from.url, request)
    expect([answer.status, answer.headers.get('location')]).toEqual([302, to.url])
    expect(to.got).toEqual([])
  })
})

test('a body has at most so many bytes, announced or not, and is whole', async () => {
  const { url } = await listen(({ url: path }, response) => {
    const size = Number(path!.slice(1).replace(/\D/g, ''))
    if (path!.includes('announced')) response.setHeader('content-length', size)
    for (let sent = 0; sent < size; sent += 100) response.write('x'.repeat(100))
    response.end()
  })
  for (const way of ['', 'announced']) {
    expect(await (await get(`${url}1000${way}`)).text()).toHaveLength(1000)
    await expect(get(`${url}1100${way}`)).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' })
  }
  const cut = await listenRaw((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'))
  await expect(get(cut)).rejects.toMatchObject({ code: 'ECONNRESET' })
})

test('a body that does not end is given up in time, and its connection closed', async () => {
  const closed = Promise.withResolvers<void>()
  const endless = await listenRaw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    const timer = setInterval(() => socket.write('1\r\nx\r\n'), 10)
    socket.on('close', () => {
      clearInterval(timer)
      closed.resolve()
    })
  })
  await expect(guardedFetch(here, { ...limits, within: 300 })(endless)).rejects.toMatchObject({ name: 'TimeoutError' })
  await closed.promise
})

test('answers without a body, and with a status that no answer has, are told apart', async () => {
  const { url } = await listen((_, response) => response.writeHead(204).end())
  expect((await get(url)).body).toBeNull()
  const odd = await listenRaw((socket) => socket.end('HTTP/1.1 799 Odd\r\ncontent-length: 0\r\n\r\n'))
  await expect(get(odd)).rejects.toMatchObject({ code: 'HPE_INVALID_STATUS' })
})

test('a client of OpenID Connect takes it for its fetch', async () => {
  const { url } = await listen((_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ issuer: url })),
  )
  const issuer = new URL(url)
  const answer = await discoveryRequest(issuer, { [customFetch]: get, [allowInsecureRequests]: true })
  expect(await processDiscoveryResponse(issuer, answer)).toMatchObject({ issuer: url })
})
