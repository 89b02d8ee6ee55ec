import { fromJson, type JsonObject, toJson } from '@bufbuild/protobuf'
import { Code, ConnectError, type Transport } from '@connectrpc/connect'
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-web'
import { Client, Metadata, type ServiceError } from '@grpc/grpc-js'
import { inject } from 'vitest'
import { method } from '#lib/rpc/methods'
import { registry } from '#lib/registry'
import { type Stream, streams } from '../../examples/contract.ts'
import type { CallOptions, Status } from './call.ts'
import { credentialsFor, readError as readGrpcError } from './grpc.ts'
import { isLong } from '../../support/long.ts'
import { frame, readError as readTextError, readFrames, readTrailers } from './grpc-web-text.ts'
import { decode, encode } from './messages.ts'
import { readError as readWebError } from './transport.ts'

/** A stream that has begun. */
export interface OpenStream {
  /** The received messages in canonical JSON. The list grows. */
  messages: any[]
  /** The final Status; undefined where the client ended the stream. */
  ended: Promise<Status | undefined>
  cancel(): void
}

export type StreamOptions = CallOptions & {
  /** Milliseconds; default: none. */
  timeout?: number
}

type Open = (stream: Stream, request?: JsonObject, options?: StreamOptions) => OpenStream

/** `application/grpc` with grpc-js. */
const openGrpc: Open = (stream, request = {}, { token, organization, headers = {}, url, timeout } = {}) => {
  const { input, output } = describe(stream)
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(sent({ token, organization, headers }))) metadata.set(name, value)
  // Send the deadline only to the server. If grpc-js knew it, it might end the call before the server's Status comes.
  if (timeout !== undefined) metadata.set('grpc-timeout', `${timeout}m`)
  const address = url ?? inject('roster').url
  const client = new Client(new URL(address).host, credentialsFor(address), { 'grpc.use_local_subchannel_pool': 1 })
  const call = client.makeServerStreamRequest(
    `/${streams[stream]}/${stream}`,
    (json: JsonObject) => Buffer.from(encode(input, json)),
    (bytes) => decode(output, bytes),
    request,
    metadata,
    {},
  )
  const messages: JsonObject[] = []
  let cancelled = false
  call.on('data', (message: JsonObject) => messages.push(message))
  const ended = new Promise<Status | undefined>((resolve, reject) => {
    call.on('end', () => reject(new Error('a stream has no end of its own')))
    call.on('error', (error: ServiceError) => {
      client.close()
      try {
        resolve(cancelled ? undefined : readGrpcError(error))
      } catch (problem) {
        reject(problem)
      }
    })
  })
  return { messages, ended: quiet(ended), cancel: () => ((cancelled = true), call.cancel()) }
}

/** Follows over the transport that connect-web makes for an address. */
const openOver =
  (createTransport: (baseUrl: string) => Transport): Open =>
  (stream, request = {}, { token, organization, headers = {}, url, timeout } = {}) => {
    const desc = describe(stream)
    const gone = new AbortController()
    const messages: JsonObject[] = []
    const follow = async () => {
      const transport = createTransport(url ?? inject('roster').url)
      const message = fromJson(desc.input, request, { registry })
      const header = sent({ token, organization, headers })
      try {
        const input = (async function* () {
          yield message
        })()
        const answer = await transport.stream(desc as never, gone.signal, timeout, header, input as never)
        for await (const part of answer.message)
          messages.push(toJson(desc.output, part as never, { registry }) as never)
      } catch (error) {
        if (gone.signal.aborted) return undefined
        if (error instanceof ConnectError && error.code === Code.DeadlineExceeded && error.details.length === 0)
          return { code: 4, message: '', details: [] }
        if (error instanceof ConnectError) return readWebError(error)
        throw error
      }
      throw new Error('a stream has no end of its own')
    }
    return { messages, ended: quiet(follow()), cancel: () => gone.abort() }
  }

/** `application/grpc-web-text`, by hand. */
const openGrpcWebText: Open = (stream, request = {}, { token, organization, headers = {}, url, timeout } = {}) => {
  const { input, output } = describe(stream)
  const gone = new AbortController()
  const messages: JsonObject[] = []
  const follow = async () => {
    try {
      const response = await fetch(`${url ?? inject('roster').url}/${streams[stream]}/${stream}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/grpc-web-text',
          ...(timeout !== undefined && { 'grpc-timeout': `${timeout}m` }),
          ...sent({ token, organization, headers }),
        },
        body: Buffer.from(frame(encode(input, request))).toString('base64'),
        signal: gone.signal,
      })
      let text = ''
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk
        const [frames, rest] = takeFrames(text)
        text = rest
        for (const { flag, payload } of frames) {
          if (flag === 0) messages.push(decode(output, payload))
          else return readTextError(readTrailers([{ flag, payload }]))
        }
      }
    } catch (error) {
      if (gone.signal.aborted) return undefined
      throw error
    }
    throw new Error('a stream has no end of its own')
  }
  return { messages, ended: quiet(follow()), cancel: () => gone.abort() }
}

/** Every encoding with streams, by its name. */
export const streaming = [
  { encoding: 'grpc', open: openGrpc },
  { encoding: 'grpc-web', open: openOver((baseUrl) => createGrpcWebTransport({ baseUrl })) },
  { encoding: 'grpc-web-text', open: openGrpcWebText },
  { encoding: 'connect', open: openOver((baseUrl) => createConnectTransport({ baseUrl, useBinaryFormat: true })) },
  { encoding: 'connect-json', open: openOver((baseUrl) => createConnectTransport({ baseUrl })) },
] as const

/** For `describe.each`: each scenario takes one encoding, as with `over`; the long form takes them all. */
export function streamingOver(encoding: (typeof streaming)[number]['encoding']) {
  return streaming.filter((each) => isLong || each.encoding === encoding)
}

function describe(stream: Stream) {
  return method(`${streams[stream]}.${stream}`).desc
}

function sent({ token, organization, headers }: CallOptions): Record<string, string> {
  return {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(organization !== undefined && { 'x-service-orgid': organization }),
    ...headers,
  }
}

// Takes the complete frames, each in its own base64, and leaves the rest of the text.
function takeFrames(text: string) {
  const frames: ReturnType<typeof readFrames> = []
  for (;;) {
    if (text.length < 8) return [frames, text] as const
    const length = Math.ceil((Buffer.from(text.slice(0, 8), 'base64').readUInt32BE(1) + 5) / 3) * 4
    if (text.length < length) return [frames, text] as const
    frames.push(...readFrames(Buffer.from(text.slice(0, length), 'base64')))
    text = text.slice(length)
  }
}

// A test need not look at the end of a stream.
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
