import { once } from 'node:events'
import { connect } from 'node:net'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { methods } from '#lib/rpc/methods'
import { callConnect } from './e2e/clients/connect.ts'
import { callGrpcWeb } from './e2e/clients/grpc-web.ts'
import { callGrpc } from './e2e/clients/grpc.ts'
import { callJson } from './e2e/clients/json.ts'
import { streaming } from './e2e/clients/streams.ts'
import { type Metered, ofCall, startMetered } from './metrics/metered.ts'
import { series } from './metrics/samples.ts'
import { startTestCollector, type TestCollector } from './support/collector.ts'

let collector: TestCollector
let there: Metered

beforeAll(async () => {
  collector = await startTestCollector()
  there = await startMetered(30_000, {
    OTEL_METRICS_EXPORTER: 'prometheus,otlp',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'delta',
    OTEL_METRIC_EXPORT_INTERVAL: '500',
    OTEL_TRACES_EXPORTER: 'none',
    STREAMS_PER_CALLER: '2',
    STREAM_MAX_AGE_MS: '5000',
  })
}, 120_000)
afterAll(async () => {
  await there?.stop()
  await collector?.stop()
})
beforeEach(() => there.reset())

const stream = (wanted: string) => streaming.find(({ encoding }) => encoding === wanted)!

const getUser = 'roster.users.v1.UserService/GetUser'
const watch = 'roster.notifier.v1.EventService/WatchEvents'
const [duration, seconds, buckets] = ['count', 'sum', 'bucket'].map((part) => `rpc_server_call_duration_${part}`) as [
  string,
  string,
  string,
]
test('each call counts once, under its operation, encoding and status, with its seconds', async () => {
  const { userId } = await there.act('AddMachineUser', { userName: 'valued', name: 'Valued' })
  await there.reset()
  const began = performance.now()
  await callJson('GetUser', { userId }, there.caller)
  for (let n = 0; n < 2; n++) await callGrpc('GetUser', { userId }, there.caller)
  for (let n = 0; n < 3; n++) await callGrpcWeb('GetUser', { userId }, there.caller)
  for (let n = 0; n < 4; n++) await callConnect('GetUser', { userId }, there.caller)
  await callJson('GetUser', { userId: 'no-one' }, there.caller)
  await fetch(`${there.caller.url}/.well-known/openid-configuration`)
  const elapsed = (performance.now() - began) / 1000
  await vi.waitFor(async () =>
    expect(await there.growth('gateway', duration)).toEqual({
      [ofCall(getUser, 'json')]: 1,
      [ofCall(getUser, 'grpc')]: 2,
      [ofCall(getUser, 'grpc-web')]: 3,
      [ofCall(getUser, 'connect')]: 4,
      [ofCall(getUser, 'json', 'NOT_FOUND')]: 1,
      [ofCall('roster.users.v1.OAuthService/GetServerMetadata', 'oauth')]: 1,
    }),
  )
  expect(await there.growth('users', duration)).toMatchObject({
    [ofCall(getUser, 'nats')]: 10,
    [ofCall(getUser, 'nats', 'NOT_FOUND')]: 1,
  })
  const spent = Object.values(await there.growth('gateway', seconds))
  expect(spent).toHaveLength(6)
  expect(spent.every((sum) => sum > 0)).toBe(true)
  expect(spent.reduce((sum, one) => sum + one)).toBeLessThan(elapsed)
  expect(await there.growth('gateway', buckets)).toMatchObject({ [ofCall(getUser, 'grpc', 'OK', { le: '+Inf' })]: 2 })
})

test('a stream that was open for as long as it may be has not failed, and has lasted for its seconds', async () => {
  const [grpc, web] = [stream('grpc'), stream('grpc-web')]
  const began = performance.now()
  const open = [grpc.open('WatchEvents', {}, there.caller), web.open('WatchEvents', {}, there.caller)]
  for (const { ended } of open)
    expect(await ended).toMatchObject({ code: 14, details: [{ reason: 'STREAM_ENDED' }, {}] })
  expect(await grpc.open('WatchEvents', {}, { ...there.caller, timeout: 1000 }).ended).toMatchObject({ code: 4 })
  const elapsed = (performance.now() - began) / 1000
  const [ofGrpc, ofWeb] = [ofCall(watch, 'grpc'), ofCall(watch, 'grpc-web')]
  expect(await there.growth('gateway', duration)).toEqual({ [ofGrpc]: 2, [ofWeb]: 1 })
  const sums = await there.growth('gateway', seconds)
  expect(sums[ofWeb]).toBeGreaterThan(4.9)
  expect(sums[ofWeb]).toBeLessThan(elapsed)
  expect(sums[ofGrpc]).toBeGreaterThan(5.8)
  expect(sums[ofGrpc]).toBeLessThan(elapsed + 0.1)
})

test('a call that a limit refuses counts as its hit, and as an error of its operation', async () => {
  const open = () => stream('grpc').open('WatchEvents', {}, there.caller)
  const taken = [open(), open()]
  await vi.waitFor(async () => expect((await there.read()).gateway.get('roster_gateway_streams')).toBe(2))
  expect(await open().ended).toMatchObject({ code: 8 })
  for (const { cancel } of taken) cancel()
  await vi.waitFor(async () =>
    expect(await there.growth('gateway', duration)).toEqual({
      [ofCall(watch, 'grpc', 'RESOURCE_EXHAUSTED')]: 1,
      [ofCall(watch, 'grpc', 'CANCELLED')]: 2,
    }),
  )
  expect(await there.growth('gateway', 'roster_limit_hits_total')).toEqual({
    [series({ roster_limit: 'streams.caller' })]: 1,
  })
})

test('what is no call counts by its path and status, and a broken request by its fault', async () => {
  for (const path of ['/docs', '/nowhere', '/nowhere/else']) await (await fetch(there.caller.url + path)).arrayBuffer()
  await send('what is this\r\n\r\n')
  await send(`GET / HTTP/1.1\r\nhost: a\r\nlong: ${'x'.repeat(40_000)}\r\n\r\n`)
  const page = (route: string, status: string) =>
    series({ http_request_method: 'GET', http_route: route, http_response_status_code: status })
  await vi.waitFor(async () =>
    expect(await there.growth('gateway', 'http_server_request_duration_count')).toEqual({
      [page('/docs', '200')]: 1,
      [page('_OTHER', '404')]: 2,
    }),
  )
  expect(await there.growth('gateway', 'roster_gateway_broken_requests_total')).toEqual({
    [series({ roster_reason: 'HTTP_MALFORMED' })]: 1,
    [series({ roster_reason: 'HEADERS_TOO_LARGE' })]: 1,
  })
})

test('a call of no method counts once, by the answer that it gets', async () => {
  const unknown = '/roster.users.v1.UserService/Unknown'
  const type = { 'content-type': 'application/grpc-web' }
  await (await fetch(there.caller.url + unknown, { method: 'POST', headers: type })).arrayBuffer()
  const client = new Client(new URL(there.caller.url).host, credentials.createInsecure())
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
    expect(await there.growth('gateway', duration)).toEqual({
      [ofCall('_OTHER', 'grpc-web', 'UNIMPLEMENTED')]: 1,
      [ofCall('_OTHER', 'grpc', 'UNIMPLEMENTED')]: 1,
      [ofCall('_OTHER', 'grpc', 'RESOURCE_EXHAUSTED')]: 1,
    }),
  )
})

test('strangers make no series of their own, whatever they call', async () => {
  const known = (await there.read()).gateway.size
  const paths = [...methods.values()].filter(({ access }) => !['public', 'internal'].includes(access.rule))
  const types = ['application/grpc-web', 'application/json']
  let called = 0
  for (const { path, streams } of paths)
    for (const type of streams ? types.slice(0, 1) : types) {
      await (await fetch(there.caller.url + path, { method: 'POST', headers: { 'content-type': type } })).arrayBuffer()
      called++
    }
  const counts = await there.growth('gateway', duration)
  expect(Object.keys(counts).every((labels) => labels.includes('rpc_method="_OTHER"'))).toBe(true)
  expect(Object.values(counts).reduce((sum, one) => sum + one)).toBe(called)
  // Two encodings and at most two statuses: no token, and too many calls.
  expect((await there.read()).gateway.size - known).toBeLessThan(4 * 20)
})

test('OTLP has the same histograms as Prometheus, cumulative even where it is asked for deltas', async () => {
  await there.act('AddOrganization', { name: 'traced' })
  const method = 'roster.grants.v1.OrganizationService/AddOrganization'
  const { gateway } = await there.read()
  const sum = gateway.get(seconds + ofCall(method, 'json'))!
  const points = () =>
    collector.histograms.filter(
      ({ service, name, attributes }) =>
        service === 'roster-gateway' && name === 'rpc.server.call.duration' && attributes['rpc.method'] === method,
    )
  // A histogram of deltas would not show it a second time.
  await vi.waitFor(() => expect(points().length).toBeGreaterThan(1), { timeout: 20_000 })
  const { began, ended, bounds, counts, ...last } = points().at(-1)!
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
  const socket = connect(Number(new URL(there.caller.url).port), 'localhost')
  socket.on('error', () => {}).resume()
  socket.write(text)
  await once(socket, 'close')
}
