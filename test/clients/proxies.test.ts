import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:http2'
import { request } from 'node:https'
import type { AddressInfo, TcpSocketConnectOpts } from 'node:net'
import { text } from 'node:stream/consumers'
import { type ConnectionOptions, connect as connectTls, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest'
import { askReadiness } from '../../deploy/ask-readiness.ts'
import { freePort } from '../../deploy/local/ports.ts'
import { frameOf } from '../../services/gateway/testing/test-client.ts'
import { type Call, factsOf } from '../e2e/clients/call.ts'
import { call, encodings, everyEncoding } from '../e2e/clients/encodings.ts'
import { type OpenStream, streaming } from '../e2e/clients/streams.ts'
import { fiveOperations } from '../examples/five-operations.ts'
import { newMachine, newMember, newOrganization, ok, unique } from '../examples/people.ts'
import { elsewhere } from './build.ts'
import { type Proxy, type ProxyName, startProxy, withoutProxy } from '../support/proxies.ts'

const { gateway, environment, cert, key } = inject('behindProxies')
const trusted = getCACertificates('default')
beforeAll(() => setDefaultCACertificates([...trusted, readFileSync(cert, 'utf8')]))
afterAll(() => setDefaultCACertificates(trusted))

const proxies: ProxyName[] = ['nginx', 'caddy', 'haproxy']
for (const name of proxies) {
  const missing = elsewhere || withoutProxy(name)
  describe.skipIf(missing)(`behind ${name}, as docs/operations.md sets it up${missing}`, () => {
    let proxy: Proxy
    let url: string
    beforeAll(async () => {
      proxy = await startProxy(name, [gateway], { cert, key })
      ;({ url } = proxy)
    })
    afterAll(() => proxy?.stop())

    describe.each(everyEncoding)('$encoding', ({ call }) => {
      test('performs the five operations', async () => {
        for (const { operation, request, token, organization, check } of await fiveOperations())
          await check(ok(await call(operation, request, { token, organization, url })))
      })

      test('reads an error with its details, also a long one, and one that comes before its request', async () => {
        const [, , , { request, token, organization }] = (await fiveOperations()) as any
        const wrong = await call('SetEmail', { ...request, email: '' }, { token, organization, url })
        expect(factsOf(wrong)).toMatchObject({ code: 3, reason: 'VALIDATION_FAILED', fields: ['email'] })
        const queries = Array.from({ length: 50 }, () => ({}))
        const long = await call('SearchUsers', { queries }, { token, organization, url })
        expect(JSON.stringify(long.error).length).toBeGreaterThan(3_000)
        const large = { userName: 'x'.repeat(900_000), name: 'x' }
        expect(factsOf(await call('AddMachineUser', large, { token: 'wrong', url }))).toMatchObject({
          code: 16,
          reason: 'TOKEN_INVALID',
        })
      })

      test('sends conditions and idempotency keys, and reads what answers them', async () => {
        const [, , { token, organization }] = (await fiveOperations()) as any
        const caller = { token, organization, url }
        const asked = { userName: unique('machine'), name: 'Robot' }
        const once = { ...caller, headers: { 'idempotency-key': unique('key') } }
        const first = ok(await call('AddMachineUser', asked, once))
        const again = await call('AddMachineUser', asked, once)
        expect([ok(again), again.headers['idempotent-replayed']]).toEqual([first, 'true'])
        const { headers } = await call('GetUser', { userId: first.userId }, caller)
        expect(headers['etag']).toBe('"1"')
        const lock = (sequence: string) =>
          call('LockUser', { userId: first.userId }, { ...caller, headers: { 'if-match': sequence } })
        expect(factsOf(await lock('"7"')).reason).toBe('SEQUENCE_MISMATCH')
        ok(await lock(headers['etag']!))
      })
    })

    test.each(streaming)(
      '$encoding: events of an open stream come at once, and a left stream ends',
      async ({ open }) => {
        const organization = await newOrganization()
        const { token } = await newMember(organization, ['ORG_OWNER_VIEWER'])
        const caller = { token, organization, url }
        const watch = () => open('WatchOrganizationEvents', { filter: { eventTypes: ['user.machine.*'] } }, caller)
        const stream = watch()
        const first = await newMachine(organization)
        await vi.waitFor(() => expect(subjectsOf(stream)).toEqual([first]), { timeout: 10_000, interval: 5 })
        const written = performance.now()
        const second = await newMachine(organization)
        await vi.waitFor(() => expect(subjectsOf(stream)).toEqual([first, second]), { timeout: 10_000, interval: 5 })
        expect(performance.now() - written).toBeLessThan(2_000)
        // A caller may have ten streams.
        const others = Array.from({ length: 9 }, watch)
        await vi.waitFor(() => expect(others.flatMap(subjectsOf)).toHaveLength(18), { timeout: 10_000 })
        expect((await watch().ended)?.details[0]?.['reason']).toBe('LIMIT_REACHED')
        for (const left of [stream, ...others]) left.cancel()
        await vi.waitFor(
          async () => {
            const next = watch()
            onTestFinished(next.cancel)
            await vi.waitFor(() => expect(subjectsOf(next)).toEqual([first, second]), { timeout: 1_000 })
          },
          { timeout: 10_000 },
        )
      },
    )

    test('of one client with many streams that need no token, only some are served; another has its own', async () => {
      const [one, other] = [watchHealth(url, '127.0.0.2', 90), watchHealth(url, '127.0.0.3', 1)]
      await expect.poll(one).toHaveLength(90)
      expect(new Set(one())).toEqual(new Set([undefined, '8']))
      await expect.poll(other).toEqual([undefined])
    })

    test('the last address of X-Forwarded-For is that of the client, whatever the client sends', async () => {
      const seen: (string | undefined)[] = []
      const echo = createServer((asked, answer) => {
        // A proxy also asks for itself.
        if (asked.url === '/client') seen.push(asked.headers['x-forwarded-for'] as string)
        answer.end()
      }).listen(0, '127.0.0.1')
      await once(echo, 'listening')
      onTestFinished(() => void echo.close())
      const { port } = echo.address() as AddressInfo
      const front = await startProxy(name, [`127.0.0.1:${port}`], { cert, key })
      onTestFinished(front.stop)
      for (const headers of [{}, { 'x-forwarded-for': '198.51.100.7' }])
        await get(`${front.url}/client`, { localAddress: '127.0.0.2', headers })
      expect(seen.map((value) => value?.split(', ').at(-1))).toEqual(['127.0.0.2', '127.0.0.2'])
    })

    test('twenty clients ask again and again over kept connections, and each request is answered', async () => {
      const [, , { token }] = (await fiveOperations()) as any
      const organization = await newOrganization()
      const userId = await newMachine(organization)
      const ask = async (index: number) => {
        for (let i = 0; i < 40; i++) {
          const { call } = encodings[(index + i) % encodings.length]!
          const answer = await call('GetUser', { userId }, { token, organization, url })
          expect(ok(answer).user.userId).toBe(userId)
        }
      }
      await Promise.all(Array.from({ length: 20 }, (_, index) => ask(index)))
    })

    test('while its gateways are replaced one by one, calls that ask again all succeed', async () => {
      const ports = [await freePort(0), await freePort(0)]
      const gateways = await Promise.all(ports.map(startGateway))
      const front = await startProxy(
        name,
        ports.map((port) => `127.0.0.1:${port}`),
        { cert, key },
      )
      onTestFinished(front.stop)
      const [, , { token }] = (await fiveOperations()) as any
      const organization = await newOrganization()
      const userId = await newMachine(organization)
      const caller = { token, organization, url: front.url }
      // Each try of a write has the same key.
      const untilAnswered = async (ask: () => ReturnType<Call>) => {
        for (const began = performance.now(); ;) {
          const answer = await ask().catch((error: Error) => error)
          if (!(answer instanceof Error) && answer.ok) return
          expect(performance.now() - began, JSON.stringify(answer)).toBeLessThan(10_000)
        }
      }
      const replaced = new AbortController()
      let added = 0
      const work = async (index: number) => {
        const { call } = encodings[index % encodings.length]!
        while (!replaced.signal.aborted) {
          await untilAnswered(() => call('GetUser', { userId }, caller))
          const [headers, asked] = [{ 'idempotency-key': unique('key') }, { userName: unique('m'), name: 'x' }]
          await untilAnswered(() => call('AddMachineUser', asked, { ...caller, headers }))
          added++
        }
      }
      const workers = Promise.all(Array.from({ length: 12 }, (_, index) => work(index)))
      for (const [index, port] of ports.entries()) {
        gateways[index]!.kill()
        await once(gateways[index]!, 'exit')
        gateways[index] = await startGateway(port)
      }
      replaced.abort()
      await workers
      const { total } = ok(await call('SearchUsers', { limit: 1, withTotal: true }, { token, organization }))
      expect(total).toBe(added + 1)
    })

    test('over HTTP/2 too, answers of every status are whole', async () => {
      const session = connect(url)
      onTestFinished(() => session.destroy())
      const status = async (path: string, headers = {}, body = '') => {
        const method = body === '' ? {} : { ':method': 'POST' }
        const stream = session.request({ ':path': path, ...method, ...headers }, { endStream: body === '' })
        let head: number | undefined
        stream.on('response', (received) => (head = received[':status']))
        if (body !== '') stream.end(body)
        const answer = await text(stream)
        expect(answer).not.toBe('')
        return head
      }
      const json = { 'content-type': 'application/json' }
      for (let i = 0; i < 10; i++) {
        expect(await status('/oauth/v2/keys')).toBe(200)
        expect(await status('/nowhere')).toBe(404)
        expect(await status('/v2/users/human', json, '{}')).toBe(401)
        expect(await status('/oauth/v2/keys', { ...json, ':method': 'PUT' }, '{}')).toBe(405)
        expect(await status('/v2/users/human', json, 'x'.repeat(900_000))).toBe(401)
      }
    })
  })
}

/** Starts a gateway by itself, ready for calls. */
async function startGateway(port: number): Promise<ChildProcess> {
  const env = { PATH: process.env['PATH'], ...environment, PORT: String(port) }
  const child = spawn(process.execPath, ['services/gateway/main.ts'], { env, stdio: 'ignore' })
  await vi.waitFor(async () => expect((await askReadiness(port, false)).status).toBe(200), { timeout: 30_000 })
  return child
}

const subjectsOf = ({ messages }: OpenStream) =>
  messages.flatMap(({ events }): any[] => events ?? []).map(({ aggregateId }) => aggregateId as string)

/** Watches the health so many times from an address of this machine. Returns the status of each answer so far. */
function watchHealth(url: string, localAddress: string, times: number): () => (string | undefined)[] {
  const { hostname, port } = new URL(url)
  const from: ConnectionOptions & TcpSocketConnectOpts = { port: Number(port), localAddress, ALPNProtocols: ['h2'] }
  const session = connect(url, {
    createConnection: () => connectTls({ host: '127.0.0.1', servername: hostname, ...from }),
  })
  onTestFinished(() => session.destroy())
  const answers: (string | undefined)[] = []
  for (let i = 0; i < times; i++) {
    const path = { ':method': 'POST', ':path': '/grpc.health.v1.Health/Watch', 'content-type': 'application/grpc' }
    const stream = session.request({ ...path, te: 'trailers' })
    stream.on('response', (head) => answers.push(head['grpc-status'] as string | undefined))
    stream.on('error', () => {}).resume()
    stream.end(frameOf(Buffer.alloc(0)))
  }
  return () => answers
}

async function get(url: string, options: { localAddress: string; headers: Record<string, string> }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  request(url, { ...options, family: 4, agent: false }, (answer) => answer.resume().on('end', resolve))
    .on('error', reject)
    .end()
  return promise
}
