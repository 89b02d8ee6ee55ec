import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { JsonObject } from '@bufbuild/protobuf'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { methods } from '#lib/rpc/methods'
import { type ServiceName, serviceNames } from '../deploy/local/service-environment.ts'
import { callConnect } from './e2e/clients/connect.ts'
import { callGrpcWeb } from './e2e/clients/grpc-web.ts'
import { callGrpc } from './e2e/clients/grpc.ts'
import { callJson } from './e2e/clients/json.ts'
import { streaming } from './e2e/clients/streams.ts'
import type { Operation } from './examples/contract.ts'
import { type Running, startRunning } from './faults/running.ts'
import { grown, readSamples, type Samples, series } from './metrics/samples.ts'
import { startTestCollector, type TestCollector } from './support/collector.ts'
import { startTestReceiver } from './support/receiver.ts'

let collector: TestCollector
let running: Running
let options: { url: string; token: string }
let firstPort: number
let before: Record<ServiceName, Samples>

beforeAll(async () => {
  collector = await startTestCollector()
  firstPort = randomInt(32_000, 34_000)
  running = await startRunning({
    OTEL_METRICS_EXPORTER: 'prometheus,otlp',
    OTEL_EXPORTER_PROMETHEUS_PORT: String(firstPort),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'delta',
    OTEL_METRIC_EXPORT_INTERVAL: '500',
    OTEL_TRACES_EXPORTER: 'none',
    STREAMS_PER_CALLER: '2',
    STREAM_MAX_AGE_MS: '5000',
    // It takes four jobs at a time.
    MAIL_CONCURRENCY: '1',
  })
  options = { url: running.url, token: running.adminToken }
}, 120_000)

afterAll(async () => {
  await running?.stop()
  await collector?.stop()
})

beforeEach(async () => {
  before = await read()
})

async function read(): Promise<Record<ServiceName, Samples>> {
  const texts = serviceNames.map(async (name, index) => {
    const response = await fetch(`http://localhost:${firstPort + index}/metrics`)
    return [name, readSamples(await response.text())] as const
  })
  return Object.fromEntries(await Promise.all(texts)) as Record<ServiceName, Samples>
}

/** By how much each series of the metric has grown since the test began. */
const growth = async (service: ServiceName, name: string) => grown(before[service], (await read())[service], name)

async function act(operation: Operation, request: JsonObject): Promise<any> {
  const { ok, error } = await callJson(operation, request, options)
  if (error) throw new Error(`${operation}: ${JSON.stringify(error)}`)
  return ok
}

const systems = { json: 'http', oauth: 'http', grpc: 'grpc', 'grpc-web': 'grpc', connect: 'connectrpc', nats: 'nats' }

/** The labels of a call. */
const ofCall = (method: string, encoding: keyof typeof systems, status = 'OK', more = {}) =>
  series({
    rpc_method: method,
    roster_encoding: encoding,
    rpc_status_code: status,
    rpc_system_name: systems[encoding],
    ...more,
  })

const stream = (wanted: string) => streaming.find(({ encoding }) => encoding === wanted)!

const getUser = 'roster.users.v1.UserService/GetUser'
const watch = 'roster.notifier.v1.EventService/WatchEvents'
const [duration, seconds, buckets] = ['count', 'sum', 'bucket'].map((part) => `rpc_server_call_duration_${part}`) as [
  string,
  string,
  string,
]
const add = (name: string) => ({
  userName: name,
  profile: { firstName: 'A', lastName: 'B' },
  email: { email: `${name}@example.com` },
})

test('each call counts once, under its operation, encoding and status, with its seconds', async () => {
  const { userId } = await act('AddMachineUser', { userName: 'valued', name: 'Valued' })
  before = await read()
  const began = performance.now()
  await callJson('GetUser', { userId }, options)
  for (let n = 0; n < 2; n++) await callGrpc('GetUser', { userId }, options)
  for (let n = 0; n < 3; n++) await callGrpcWeb('GetUser', { userId }, options)
  for (let n = 0; n < 4; n++) await callConnect('GetUser', { userId }, options)
  await callJson('GetUser', { userId: 'nobody' }, options)
  await fetch(`${options.url}/.well-known/openid-configuration`)
  const elapsed = (performance.now() - began) / 1000
  await vi.waitFor(async () =>
    expect(await growth('gateway', duration)).toEqual({
      [ofCall(getUser, 'json')]: 1,
      [ofCall(getUser, 'grpc')]: 2,
      [ofCall(getUser, 'grpc-web')]: 3,
      [ofCall(getUser, 'connect')]: 4,
      [ofCall(getUser, 'json', 'NOT_FOUND')]: 1,
      [ofCall('roster.users.v1.OAuthService/GetServerMetadata', 'oauth')]: 1,
    }),
  )
  expect(await growth('users', duration)).toMatchObject({
    [ofCall(getUser, 'nats')]: 10,
    [ofCall(getUser, 'nats', 'NOT_FOUND')]: 1,
  })
  const spent = Object.values(await growth('gateway', seconds))
  expect(spent).toHaveLength(6)
  expect(spent.every((sum) => sum > 0)).toBe(true)
  expect(spent.reduce((sum, one) => sum + one)).toBeLessThan(elapsed)
  expect(await growth('gateway', buckets)).toMatchObject({ [ofCall(getUser, 'grpc', 'OK', { le: '+Inf' })]: 2 })
})

test('a stream that was open for as long as it may be has not failed, and has lasted for its seconds', async () => {
  const [grpc, web] = [stream('grpc'), stream('grpc-web')]
  const began = performance.now()
  const open = [grpc.open('WatchEvents', {}, options), web.open('WatchEvents', {}, options)]
  for (const { ended } of open)
    expect(await ended).toMatchObject({ code: 14, details: [{ reason: 'STREAM_ENDED' }, {}] })
  expect(await grpc.open('WatchEvents', {}, { ...options, timeout: 1000 }).ended).toMatchObject({ code: 4 })
  const elapsed = (performance.now() - began) / 1000
  const [ofGrpc, ofWeb] = [ofCall(watch, 'grpc'), ofCall(watch, 'grpc-web')]
  expect(await growth('gateway', duration)).toEqual({ [ofGrpc]: 2, [ofWeb]: 1 })
  const sums = await growth('gateway', seconds)
  expect(sums[ofWeb]).toBeGreaterThan(4.9)
  expect(sums[ofWeb]).toBeLessThan(elapsed)
  expect(sums[ofGrpc]).toBeGreaterThan(5.8)
  expect(sums[ofGrpc]).toBeLessThan(elapsed + 0.1)
})

test('a call that a limit refuses counts as its hit, and as an error of its operation', async () => {
  const open = () => stream('grpc').open('WatchEvents', {}, options)
  const taken = [open(), open()]
  await vi.waitFor(async () => expect((await read()).gateway.get('roster_gateway_streams')).toBe(2))
  expect(await open().ended).toMatchObject({ code: 8 })
  for (const { cancel } of taken) cancel()
  await vi.waitFor(async () =>
    expect(await growth('gateway', duration)).toEqual({
      [ofCall(watch, 'grpc', 'RESOURCE_EXHAUSTED')]: 1,
      [ofCall(watch, 'grpc', 'CANCELLED')]: 2,
    }),
  )
  expect(await growth('gateway', 'roster_limit_hits_total')).toEqual({
    [series({ roster_limit: 'streams.caller' })]: 1,
  })
})

test('a bulk is one transaction of its items, and a single command one of its own', async () => {
  await act('BulkAddUsers', { users: ['a', 'b', 'c'].map((name) => ({ human: add(`bulk-${name}`) })) })
  await act('AddProject', { name: 'valued' })
  expect(await growth('users', 'roster_store_batch_size_count')).toMatchObject({ [series({ roster_kind: 'bulk' })]: 1 })
  expect(await growth('users', 'roster_store_batch_size_sum')).toMatchObject({ [series({ roster_kind: 'bulk' })]: 3 })
  for (const part of ['count', 'sum'])
    expect(await growth('grants', `roster_store_batch_size_${part}`)).toEqual({
      [series({ roster_kind: 'single' })]: 1,
    })
})

test('a caller is looked up once, and known from then on', async () => {
  const { userId } = await act('AddMachineUser', { userName: 'repeated', name: 'Repeated' })
  const { token } = await act('AddPersonalAccessToken', { userId, expirationDate: '2100-01-01T00:00:00Z' })
  before = await read()
  for (let n = 0; n < 5; n++) await callJson('GetMyUser', {}, { ...options, token })
  expect(await growth('gateway', 'roster_cache_lookups_total')).toEqual({
    [series({ roster_cache: 'callers', roster_outcome: 'miss' })]: 1,
    [series({ roster_cache: 'callers', roster_outcome: 'hit' })]: 4,
  })
})

test(
  'a mail that a worker has is under way, those behind it wait, and each is sent once',
  { timeout: 120_000 },
  async () => {
    const cable = running.cables['notifier↔smtp']
    cable.stall()
    const users = [...'abcdef'].map((name) => ({ human: add(`mailed-${name}`) }))
    await act('BulkAddUsers', { users })
    const jobs = async (state: string) => (await read()).notifier.get(`roster_queue_jobs${series({ roster_queue: 'mails', roster_state: state })}`) // prettier-ignore
    // Half of the places, or those that a slow domain has, are taken. The others wait for a worker, or rest.
    await vi.waitFor(
      async () => {
        const [waiting, active, delayed] = [await jobs('waiting'), await jobs('active'), await jobs('delayed')]
        expect(waiting! + active! + delayed!).toBe(6)
        expect(active).toBeGreaterThan(2)
      },
      { timeout: 60_000, interval: 200 },
    )
    cable.mend()
    const sent = series({ roster_outcome: 'sent' })
    await vi.waitFor(async () => expect(await growth('notifier', 'roster_mails_total')).toEqual({ [sent]: 6 }), {
      timeout: 30_000,
      interval: 200,
    })
    expect(await growth('notifier', 'roster_mail_duration_count')).toEqual({ '': 6 })
  },
)

test('the first event of a webhook has a place of those that are not quick, the next a quick one', async () => {
  const receiver = await startTestReceiver()
  let release = Promise.withResolvers<number>()
  receiver.answer(() => release.promise)
  const settings = { url: receiver.url, allOrganizations: true, eventTypes: ['project.added'] }
  const { webhookId } = await act('AddWebhook', settings)
  const lanes = async () => {
    const { notifier } = await read()
    return ['quick', 'slow'].map((lane) => notifier.get(`roster_webhook_under_way${series({ roster_lane: lane })}`))
  }
  const lanesAre = (wanted: number[]) =>
    vi.waitFor(async () => expect(await lanes()).toEqual(wanted), { timeout: 20_000, interval: 100 })
  const tries = (sent: number) =>
    vi.waitFor(
      async () =>
        expect(await growth('notifier', 'roster_webhook_tries_total')).toEqual({
          [series({ roster_outcome: 'sent' })]: sent,
        }),
      { timeout: 20_000, interval: 100 },
    )
  await act('AddProject', { name: 'first' })
  await lanesAre([0, 1])
  release.resolve(200)
  await tries(1)
  release = Promise.withResolvers()
  await act('AddProject', { name: 'second' })
  await lanesAre([1, 0])
  release.resolve(200)
  await tries(2)
  await act('RemoveWebhook', { webhookId })
  await receiver.stop()
})

test('what is no call counts by its path and status, and a broken request by its fault', async () => {
  for (const path of ['/docs', '/nowhere', '/nowhere/else']) await (await fetch(options.url + path)).arrayBuffer()
  await send('what is this\r\n\r\n')
  await send(`GET / HTTP/1.1\r\nhost: a\r\nlong: ${'x'.repeat(20_000)}\r\n\r\n`)
  const page = (route: string, status: string) =>
    series({ http_request_method: 'GET', http_route: route, http_response_status_code: status })
  await vi.waitFor(async () =>
    expect(await growth('gateway', 'http_server_request_duration_count')).toEqual({
      [page('/docs', '200')]: 1,
      [page('_OTHER', '404')]: 2,
    }),
  )
  expect(await growth('gateway', 'roster_gateway_broken_requests_total')).toEqual({
    [series({ roster_reason: 'HTTP_MALFORMED' })]: 1,
    [series({ roster_reason: 'HEADERS_TOO_LARGE' })]: 1,
  })
})

test('a call of no method counts once, by the answer that it gets', async () => {
  const unknown = '/roster.users.v1.UserService/Unknown'
  const type = { 'content-type': 'application/grpc-web' }
  await (await fetch(options.url + unknown, { method: 'POST', headers: type })).arrayBuffer()
  const client = new Client(new URL(options.url).host, credentials.createInsecure())
  const call = (size: number) => {
    const metadata = new Metadata()
    metadata.set('long', 'x'.repeat(size))
    const same = (bytes: Buffer) => bytes
    return new Promise<number | undefined>((resolve) =>
      client.makeUnaryRequest(unknown, same, same, Buffer.alloc(0), metadata, (error) => resolve(error?.code)),
    )
  }
  expect([await call(1), await call(20_000)]).toEqual([12, 8])
  client.close()
  await vi.waitFor(async () =>
    expect(await growth('gateway', duration)).toEqual({
      [ofCall('_OTHER', 'grpc-web', 'UNIMPLEMENTED')]: 1,
      [ofCall('_OTHER', 'grpc', 'UNIMPLEMENTED')]: 1,
      [ofCall('_OTHER', 'grpc', 'RESOURCE_EXHAUSTED')]: 1,
    }),
  )
})

test('strangers make no series of their own, whatever they call', async () => {
  const known = before.gateway.size
  const paths = [...methods.values()].filter(({ access }) => !['public', 'internal'].includes(access.rule))
  const types = ['application/grpc-web', 'application/json']
  let called = 0
  for (const { path, streams } of paths)
    for (const type of streams ? types.slice(0, 1) : types) {
      await (await fetch(options.url + path, { method: 'POST', headers: { 'content-type': type } })).arrayBuffer()
      called++
    }
  const counts = await growth('gateway', duration)
  expect(Object.keys(counts).every((labels) => labels.includes('rpc_method="_OTHER"'))).toBe(true)
  expect(Object.values(counts).reduce((sum, one) => sum + one)).toBe(called)
  // Two encodings and at most two statuses: no token, and too many calls.
  expect((await read()).gateway.size - known).toBeLessThan(4 * 20)
})

test('OTLP has the same histograms as Prometheus, cumulative even where it is asked for deltas', async () => {
  await act('AddOrganization', { name: 'told' })
  const method = 'roster.grants.v1.OrganizationService/AddOrganization'
  const { gateway } = await read()
  const sum = gateway.get(seconds + ofCall(method, 'json'))!
  const told = () =>
    collector.histograms.filter(
      ({ service, name, attributes }) =>
        service === 'roster-gateway' && name === 'rpc.server.call.duration' && attributes['rpc.method'] === method,
    )
  // A histogram of deltas would not tell of it a second time.
  await vi.waitFor(() => expect(told().length).toBeGreaterThan(1), { timeout: 20_000 })
  const { began, ended, bounds, counts, ...last } = told().at(-1)!
  expect(last).toEqual({
    service: 'roster-gateway',
    name: 'rpc.server.call.duration',
    unit: 's',
    attributes: {
      'rpc.method': method,
      'rpc.status_code': 'OK',
      'rpc.system.name': 'http',
      'roster.encoding': 'json',
    },
    isCumulative: true,
    count: 1,
    sum,
  })
  expect(ended).toBeGreaterThan(began)
  const bucket = bounds.filter((bound) => bound < sum).length
  expect(counts).toEqual([...bounds, Infinity].map((_, index) => (index === bucket ? 1 : 0)))
  for (const [index, bound] of bounds.entries())
    expect(gateway.get(buckets + ofCall(method, 'json', 'OK', { le: String(bound) }))).toBe(index < bucket ? 0 : 1)
})

async function send(text: string): Promise<void> {
  const socket = connect(Number(new URL(options.url).port), 'localhost')
  socket.on('error', () => {}).resume()
  socket.write(text)
  await once(socket, 'close')
}
