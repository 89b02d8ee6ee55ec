import { request } from 'node:http'
import { fromBinary, fromJson, type JsonObject, toBinary, toJson } from '@bufbuild/protobuf'
import type { Method } from '#lib/rpc/methods'
import { registry } from '#lib/registry'
import { readConnectError } from './test-client.ts'

/** An answer over HTTP, as it came: Node's fetch would undo a compression by itself. */
export interface Answer {
  status: number
  headers: Record<string, string>
  body: Buffer
}

/** A request over HTTP; by POST unless it names another verb. */
export interface Request {
  method?: string
  headers?: Record<string, string>
  body?: string | Buffer
}

export function ask(url: string, { method: verb = 'POST', headers = {}, body }: Request): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const sent = request(url, { method: verb, headers }, async (response) => {
    const chunks = (await response.toArray()) as Buffer[]
    resolve({
      status: response.statusCode!,
      headers: response.headers as Answer['headers'],
      body: Buffer.concat(chunks),
    })
  })
  sent.on('error', reject).end(body)
  return promise
}

/** The reason of an error in Connect's JSON. */
export function reasonOf({ body }: Answer): string {
  return (readConnectError(body.toString()) as { details: { reason: string }[] }).details[0]!.reason
}

/** A request message in bytes. */
export function encode({ desc }: Method, message: JsonObject): Buffer {
  return Buffer.from(toBinary(desc.input, fromJson(desc.input, message, { registry })))
}

/** An answer in canonical JSON. */
export function decode({ desc }: Method, body: Uint8Array): JsonObject {
  return toJson(desc.output, fromBinary(desc.output, body), { registry }) as JsonObject
}
