import { fromBinary, fromJson, type JsonObject, toBinary, toJson } from '@bufbuild/protobuf'
import { ConnectError, type Transport } from '@connectrpc/connect'
import {
  compressionBrotli,
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node'
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { invalid } from '#lib/errors'
import { method, type Method } from '#lib/rpc/methods'
import { registry } from '#lib/registry'
import { decodeStatus } from '../../../test/e2e/clients/messages.ts'
import { readError } from '../../../test/e2e/clients/transport.ts'
import { makeCertificate } from '../testing/certificate.ts'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

const setEmail = method('roster.users.v1.UserService.SetEmail')
const search = method('roster.users.v1.UserService.SearchUsers')
const watch = method('roster.notifier.v1.EventService.WatchEvents')
const request = { userId: 'u', email: 'a@b.c', sendCode: { urlTemplate: 'https://x.y/' } }
const written = { verificationCode: 'CODE', details: { sequence: '7' } }
const found = { users: Array.from({ length: 100 }, (_, n) => ({ userId: `user-${n}`, userName: `Somebody ${n}` })) }
const refusal = invalid([
  { field: 'email', description: 'ü' },
  { field: 'userId', description: 'is taken' },
])
const refused = {
  code: 3,
  message: refusal.message,
  details: [{ reason: 'VALIDATION_FAILED', domain: 'roster' }, { fieldViolations: refusal.violations }],
}
const certificate = makeCertificate()
let [plain, secure]: TestGateway[] = []

beforeAll(async () => {
  const operations = {
    [setEmail.subject]: ({ email }: JsonObject) => {
      if (email === 'no@b.c') throw refusal
      return written
    },
    [search.subject]: () => found,
    [watch.subject]: async ({ cursor }: JsonObject) => {
      if (cursor === 'c') throw refusal
      return { cursor: 'c', events: Array.from({ length: 50 }, (_, n) => ({ id: `event-${n}` })) }
    },
  }
  plain = await startTestGateway(operations)
  secure = await startTestGateway(operations, { TLS_CERT_FILE: certificate.cert, TLS_KEY_FILE: certificate.key })
})
afterAll(async () => {
  await plain?.stop()
  await secure?.stop()
  certificate.remove()
})

/** How a call ended: its answers, and its Status where it failed. */
interface Ending {
  answers: unknown[]
  status?: unknown
}

type Perform = (method: Method, request: JsonObject) => Promise<Ending>

/** What every client must be able to: a write, a long read, an error with all its details, and a stream. */
async function checkAll(perform: Perform) {
  expect(await perform(setEmail, request)).toEqual({ answers: [written] })
  expect((await perform(search, { limit: 100 })).answers).toMatchObject([found])
  expect((await perform(setEmail, { ...request, email: 'no@b.c' })).status).toMatchObject(refused)
  const stream = await perform(watch, {})
  expect(stream.answers).toMatchObject([{ cursor: 'c', events: { length: 50 } }])
  expect(stream.status).toMatchObject(refused)
}

const headers = { authorization: 'Bearer admin' }
const [encode, decode] = [
  ({ desc }: Method, json: JsonObject) => Buffer.from(toBinary(desc.input, fromJson(desc.input, json, { registry }))),
  ({ desc }: Method, bytes: Uint8Array) => toJson(desc.output, fromBinary(desc.output, bytes), { registry }),
]

describe('connect-node', () => {
  const nodeOptions = { ca: certificate.ca, servername: 'localhost' }
  const packed = { acceptCompression: [compressionGzip], sendCompression: compressionGzip, compressMinBytes: 0 }
  const taken = { acceptCompression: [compressionBrotli, compressionGzip] }
  const kinds: [string, (where: { baseUrl: string; httpVersion: any; nodeOptions: any }) => Transport][] = [
    ['Connect in protobuf', (where) => createConnectTransport({ ...where, ...taken, useBinaryFormat: true })],
    ['Connect in JSON', (where) => createConnectTransport({ ...where, ...taken, useBinaryFormat: false })],
    ['Connect by GET', (where) => createConnectTransport({ ...where, useHttpGet: true })],
    ['Connect in gzip', (where) => createConnectTransport({ ...where, ...packed })],
    ['Connect by GET in gzip', (where) => createConnectTransport({ ...where, ...packed, useHttpGet: true })],
    ['gRPC', (where) => createGrpcTransport({ ...where, ...taken })],
    ['gRPC in gzip', (where) => createGrpcTransport({ ...where, ...packed })],
    ['gRPC-web', (where) => createGrpcWebTransport({ ...where, ...taken })],
    ['gRPC-web in gzip', (where) => createGrpcWebTransport({ ...where, ...packed })],
  ]
  // Each road has its share of the kinds. gRPC needs HTTP/2.
  const roads = ['plain HTTP/1.1', 'h2c', 'HTTPS/1.1', 'h2 over TLS'] as const
  const shared = kinds.map(
    ([kind, make], at) => [kind, roads[/^gRPC( in|$)/.test(kind) ? 1 + 2 * (at % 2) : at % 4]!, make] as const,
  )

  test.each(shared)('calls and follows in %s, over %s', async (_kind, road, make) => {
    const baseUrl = road.includes('TLS') || road.includes('HTTPS') ? secure!.url : plain!.url
    const transport = make({ baseUrl, httpVersion: road.includes('h2') ? '2' : '1.1', nodeOptions })
    await checkAll((called, json) => callOver(transport, called, json))
  })
})

async function callOver(transport: Transport, { desc, streams }: Method, json: JsonObject): Promise<Ending> {
  const message = fromJson(desc.input, json, { registry })
  const show = (answer: unknown) => toJson(desc.output, answer as never, { registry })
  const answers: unknown[] = []
  try {
    if (!streams) {
      const answer = await transport.unary(desc as never, undefined, 20_000, headers, message)
      return { answers: [show(answer.message)] }
    }
    const input = (async function* () {
      yield message
    })()
    const stream = await transport.stream(desc as never, undefined, 20_000, headers, input as never)
    for await (const answer of stream.message) answers.push(show(answer))
    return { answers }
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error
    return { answers, status: readError(error) }
  }
}

test.each([
  ['TLS', {}],
  ['TLS, in gzip', { 'grpc.default_compression_algorithm': 2 }],
  ['TLS, in deflate', { 'grpc.default_compression_algorithm': 1 }],
])('grpc-js calls and follows over %s', async (_name, options) => {
  const channel = credentials.createSsl(Buffer.from(certificate.ca))
  // It takes no address in place of a name.
  const client = new Client(`localhost:${new URL(secure!.url).port}`, channel, options)
  await checkAll((called, json) => callGrpcJs(client, called, json))
  client.close()
})

function callGrpcJs(client: Client, called: Method, json: JsonObject): Promise<Ending> {
  const metadata = new Metadata()
  metadata.set('authorization', headers.authorization)
  const same = (bytes: Buffer) => bytes
  const answers: unknown[] = []
  const { promise, resolve } = Promise.withResolvers<Ending>()
  const stream = client.makeServerStreamRequest(called.path, same, same, encode(called, json), metadata)
  stream.on('data', (bytes: Buffer) => answers.push(decode(called, bytes))).on('end', () => resolve({ answers }))
  stream.on('error', (error: ServiceError) => {
    const details = error.metadata.get('grpc-status-details-bin')[0] as Buffer
    resolve({ answers, status: decodeStatus(details) })
  })
  return promise
}
