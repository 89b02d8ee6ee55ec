import { Agent, request as httpRequest } from 'node:http'
import { create, equals, fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf'
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { codes } from '#lib/errors'
import { method } from '#lib/rpc/methods'
import { registry } from '#lib/registry'
import { decodeText } from '../protocols/grpc-web/read.ts'

/** How a call ended, in any encoding. */
export interface Ending {
  /** The answer in canonical JSON. */
  answer?: JsonValue
  /** The `google.rpc.Status` in canonical JSON. */
  status?: JsonValue
  requestId: string | undefined
}

/** Calls a method by its full name with a request in JSON and metadata. */
export type Caller = (
  url: string,
  subject: string,
  request: Record<string, JsonValue>,
  metadata?: Record<string, string>,
) => Promise<Ending>

const statusDesc = registry.getMessage('google.rpc.Status')!
const same = (bytes: Buffer) => bytes

/** JSON over the path of google.api.http. */
export const callJson: Caller = async (url, subject, request, metadata = {}) => {
  const { verb, template, hasBody } = method(subject).http!
  const rest = { ...request }
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const key = name.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase())
    const value = rest[key] as string
    delete rest[key]
    return encodeURIComponent(value)
  })
  const response = await fetch(url + path, {
    method: verb,
    headers: { ...metadata, ...(hasBody && { 'content-type': 'application/json' }) },
    ...(hasBody && { body: JSON.stringify(rest) }),
  })
  const body = (await response.json()) as JsonValue
  return { [response.ok ? 'answer' : 'status']: body, requestId: response.headers.get('x-request-id') ?? undefined }
}

/** gRPC with grpc-js. */
export const callGrpc: Caller = async (url, subject, request, metadata = {}) => {
  const { desc, path } = method(subject)
  const client = new Client(new URL(url).host, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 })
  const sent = new Metadata()
  const { 'grpc-timeout': timeout, ...others } = metadata
  for (const [name, value] of Object.entries(others)) sent.set(name, value)
  const options = timeout === undefined ? {} : { deadline: Date.now() + parseInt(timeout, 10) }
  const { promise, resolve } = Promise.withResolvers<Ending>()
  let requestId: string | undefined
  const bytes = Buffer.from(toBinary(desc.input, fromJson(desc.input, request, { registry })))
  const call = client.makeUnaryRequest(path, same, same, bytes, sent, options, (error, answer) => {
    if (error) resolve({ ...readError(error), requestId: requestId ?? String(error.metadata.get('x-request-id')[0]) })
    else resolve({ answer: toJson(desc.output, fromBinary(desc.output, answer!), { registry }), requestId })
  })
  call.on('metadata', (received: Metadata) => (requestId = received.get('x-request-id')[0]?.toString()))
  return promise.finally(() => client.close())
}

function readError(error: ServiceError): Ending {
  const details = error.metadata.get('grpc-status-details-bin')[0] as Buffer | undefined
  const status = details ? readStatus(details) : { code: error.code, message: error.details, details: 'none' }
  return { status, requestId: undefined }
}

function readStatus(bytes: Uint8Array): JsonValue {
  return toJson(statusDesc, fromBinary(statusDesc, bytes), { registry })
}

/** gRPC-web, binary. */
export const callGrpcWeb: Caller = (url, subject, request, metadata) =>
  callWeb(url, subject, request, metadata, 'application/grpc-web+proto')

/** gRPC-web, text. */
export const callGrpcWebText: Caller = (url, subject, request, metadata) =>
  callWeb(url, subject, request, metadata, 'application/grpc-web-text+proto')

async function callWeb(
  url: string,
  subject: string,
  request: Record<string, JsonValue>,
  metadata: Record<string, string> | undefined,
  type: string,
): Promise<Ending> {
  const { desc, path } = method(subject)
  const text = type.includes('text')
  const frame = frameOf(toBinary(desc.input, fromJson(desc.input, request, { registry })))
  const body = text ? frame.toString('base64') : new Uint8Array(frame)
  const response = await fetch(url + path, { method: 'POST', headers: { ...metadata, 'content-type': type }, body })
  const bytes = text ? decodeText(await response.text()) : new Uint8Array(await response.arrayBuffer())
  const { message, trailers } = readFrames(bytes)
  const requestId = trailers.get('x-request-id')
  if (trailers.get('grpc-status') === '0')
    return { answer: toJson(desc.output, fromBinary(desc.output, message!), { registry }), requestId }
  return { status: readStatus(Buffer.from(trailers.get('grpc-status-details-bin')!, 'base64')), requestId }
}

/** Connect by POST, in protobuf. */
export const callConnect: Caller = (url, subject, request, metadata) =>
  callConnectAs('proto', url, subject, request, metadata)

/** Connect by POST, in JSON. */
export const callConnectJson: Caller = (url, subject, request, metadata) =>
  callConnectAs('json', url, subject, request, metadata)

async function callConnectAs(
  type: 'proto' | 'json',
  url: string,
  subject: string,
  request: Record<string, JsonValue>,
  metadata: Record<string, string> | undefined,
): Promise<Ending> {
  const { desc, path } = method(subject)
  const body =
    type === 'json'
      ? JSON.stringify(request)
      : new Uint8Array(toBinary(desc.input, fromJson(desc.input, request, { registry })))
  const headers = { 'connect-protocol-version': '1', ...metadata, 'content-type': `application/${type}` }
  const response = await fetch(url + path, { method: 'POST', headers, body })
  const requestId = response.headers.get('x-request-id') ?? undefined
  if (!response.ok) return { status: readConnectError(await response.text()), requestId }
  if (response.headers.get('content-type') !== headers['content-type']) throw new Error('an answer of another type')
  if (type === 'json') return { answer: (await response.json()) as JsonValue, requestId }
  const answer = fromBinary(desc.output, new Uint8Array(await response.arrayBuffer()))
  return { answer: toJson(desc.output, answer, { registry }), requestId }
}

/** The Status of an error in Connect's JSON. Throws where a detail is not the same in bytes and as people read it. */
export function readConnectError(text: string): JsonValue {
  const { code: name, message, details: sent } = JSON.parse(text) as ConnectError
  const code = codes[(name === 'canceled' ? 'cancelled' : name).toUpperCase() as keyof typeof codes]
  const details = sent.map(({ type, value, debug }) => {
    const desc = registry.getMessage(type)!
    const bytes = Buffer.from(value, 'base64')
    if (value.includes('=')) throw new Error('padded base64')
    if (!equals(desc, fromBinary(desc, bytes), fromJson(desc, debug, { registry }))) throw new Error('two meanings')
    return { typeUrl: `type.googleapis.com/${type}`, value: bytes }
  })
  return toJson(statusDesc, create(statusDesc, { code, message, details }), { registry })
}

interface ConnectError {
  code: string
  message: string
  details: { type: string; value: string; debug: JsonValue }[]
}

/** A gRPC frame around a message. */
export function frameOf(message: Uint8Array, flag = 0, length = message.length): Buffer {
  const head = Buffer.alloc(5)
  head[0] = flag
  head.writeUInt32BE(length, 1)
  return Buffer.concat([head, message])
}

/** Reads the message and the trailers of a gRPC-web answer. Throws unless the trailer frame is the last one. */
export function readFrames(bytes: Uint8Array): { message: Uint8Array | undefined; trailers: Map<string, string> } {
  const body = Buffer.from(bytes)
  const frames: { flag: number; payload: Buffer }[] = []
  for (let at = 0; at < body.length;) {
    const end = at + 5 + body.readUInt32BE(at + 1)
    frames.push({ flag: body[at]!, payload: body.subarray(at + 5, end) })
    at = end
  }
  const last = frames.pop()
  if (last?.flag !== 0x80 || last.payload.length === 0 || frames.length > 1) throw new Error('no sound gRPC-web answer')
  const lines = last.payload.toString().trimEnd().split('\r\n')
  const trailers = new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))
  return { message: frames[0]?.payload, trailers }
}

/** Sends a bare HTTP/1.1 request: fetch hides too much. */
export function send(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string | Uint8Array; path?: string } = {},
): Promise<{ status: number; headers: Record<string, string | string[] | undefined>; body: string }> {
  const { method: verb = 'GET', headers, body, path } = options
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof send>>>()
  const agent = new Agent({ maxHeaderSize: 1 << 20 } as object)
  const request = httpRequest(url, {
    method: verb,
    agent,
    ...(headers && { headers }),
    ...(path !== undefined && { path }),
  })
  request.on('error', reject).on('response', (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
    response.on('end', () =>
      resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks).toString() }),
    )
  })
  request.end(body)
  return promise
}
