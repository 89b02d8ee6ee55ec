import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Call } from '#lib/rpc/headers'
import { RosterError } from '#lib/errors'
import { startTracing } from '#test/support/tracing'
import { callConnect, callGrpc, callGrpcWeb, callJson } from '../testing/test-client.ts'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

const setEmail = 'roster.users.v1.UserService.SetEmail'
const rpc = 'roster.users.v1.UserService/SetEmail'
const request = { userId: 'user-of-the-path', email: 'someone@example.com' }
const [traceId, spanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
const admin = { authorization: 'Bearer admin' }

let gateways: { strict: TestGateway; trusting: TestGateway }
let calls: Call[]
let fault: RosterError | undefined

beforeAll(async () => {
  const operations = {
    [setEmail]: (_: unknown, call: Call) => {
      calls.push(call)
      if (fault) throw fault
      return {}
    },
  }
  const [strict, trusting] = await Promise.all([
    startTestGateway(operations),
    startTestGateway(operations, { TRUST_TRACEPARENT: 'true' }),
  ])
  gateways = { strict, trusting }
})
afterAll(() => Promise.all([gateways.strict.stop(), gateways.trusting.stop()]))
beforeEach(() => {
  calls = []
  fault = undefined
})

test.each([
  ['json', callJson, 'POST /v2/users/{user_id}/email', { 'http.route': '/v2/users/{user_id}/email' }],
  ['grpc', callGrpc, rpc, { 'rpc.system.name': 'grpc', 'rpc.method': rpc, 'rpc.status_code': 'OK' }],
  ['grpc-web', callGrpcWeb, rpc, { 'rpc.system.name': 'grpc', 'rpc.method': rpc }],
  ['connect', callConnect, rpc, { 'rpc.system.name': 'connectrpc', 'rpc.method': rpc }],
] as const)('a call in %s begins a trace, and its service goes on with it', async (_, call, name, attributes) => {
  const tracing = await startTracing()
  await call(gateways.strict.url, setEmail, request, admin)
  const spans = await tracing.spans()
  const root = spans.find((span) => span.name === name && span.parentId === '')!
  expect(root).toMatchObject({ kind: 'server', attributes, failed: false })
  const client = spans.find((span) => span.kind === 'client' && span.name === rpc)!
  expect(client).toMatchObject({ traceId: root.traceId, parentId: root.spanId })
  expect(spans.find((span) => span.kind === 'server' && span.parentId === client.spanId)).toMatchObject({ name: rpc })
  expect(calls).toMatchObject([{ traceparent: `00-${root.traceId}-${client.spanId}-01` }])
  const text = JSON.stringify(spans, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
  expect(text).not.toMatch(/user-of-the-path|someone|example\.com/)
})

test('a caller who is not trusted neither chooses the trace nor has it sampled: the trace is new, and linked', async () => {
  const tracing = await startTracing({ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' })
  const traceparent = `00-${traceId}-${spanId}-01`
  await callJson(gateways.strict.url, setEmail, request, { ...admin, traceparent })
  expect(await tracing.spans()).toEqual([])
  expect(calls[0]!.traceparent).toBe('')

  const sampled = await startTracing()
  await callJson(gateways.strict.url, setEmail, request, { ...admin, traceparent })
  const root = (await sampled.spans()).find(({ parentId }) => parentId === '')!
  expect(root.links).toEqual([{ traceId, spanId }])
})

test.each([
  ['01', 1],
  ['00', 0],
])('a trusted caller whose flag is %s has the call sampled as it says', async (flags, sampled) => {
  const sampler = sampled ? 'parentbased_always_off' : 'parentbased_always_on'
  const tracing = await startTracing({ OTEL_TRACES_SAMPLER: sampler })
  await callJson(gateways.trusting.url, setEmail, request, {
    ...admin,
    traceparent: `00-${traceId}-${spanId}-${flags}`,
  })
  const spans = await tracing.spans()
  if (!sampled) return expect([spans, calls[0]!.traceparent]).toEqual([[], ''])
  expect(calls[0]!.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`))
  expect(spans.find(({ parentId }) => parentId === spanId)).toMatchObject({ traceId, links: [] })
})

test.each([
  '',
  'x',
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `ff-${traceId}-${spanId}-01`,
  `00-${traceId}-${spanId}-01\u00e9`,
])('a traceparent that is none (%j) counts as none', async (traceparent) => {
  const tracing = await startTracing()
  await callJson(gateways.trusting.url, setEmail, request, { ...admin, traceparent: encodeURI(traceparent) })
  const root = (await tracing.spans()).find(({ parentId }) => parentId === '')!
  expect(root.links).toEqual([])
  expect(root.traceId).not.toBe(traceId)
})

test.each([
  ['INTERNAL', 500, true],
  ['NOT_FOUND', 404, false],
] as const)('%s is status %i, and only a fault of ours makes the span a failed one', async (code, status, failed) => {
  fault = new RosterError(code, 'SOME_REASON', 'for someone@example.com')
  const tracing = await startTracing()
  await callJson(gateways.strict.url, setEmail, request, admin).catch(() => {})
  const root = (await tracing.spans()).find(({ parentId, name }) => parentId === '' && name.startsWith('POST'))!
  expect(root).toMatchObject({ failed, attributes: { 'http.response.status_code': status } })
  expect(root.attributes['error.type']).toBe(failed ? 'SOME_REASON' : undefined)
})

test('without telemetry a trusted traceparent goes on as it came, and no other does', async () => {
  const traceparent = `00-${traceId}-${spanId}-01`
  await callJson(gateways.trusting.url, setEmail, request, { ...admin, traceparent })
  await callJson(gateways.strict.url, setEmail, request, { ...admin, traceparent })
  expect(calls.map((call) => call.traceparent)).toEqual([traceparent, ''])
})
