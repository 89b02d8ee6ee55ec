import { fromJson, type JsonObject, toJson } from '@bufbuild/protobuf'
import { Code, ConnectError, type Transport } from '@connectrpc/connect'
import { createGrpcWebTransport } from '@connectrpc/connect-web'
import { inject } from 'vitest'
import { registry } from '#lib/registry'
import type { Answer, Call } from './call.ts'
import { decodeStatus, describeOperation } from './messages.ts'
import { Status } from '#gen/google/rpc/status'

const transports = new Map<string, Transport>()

/** `application/grpc-web+proto` with connect-web. */
export const callGrpcWeb: Call = async (operation, request = {}, { token, organization, headers, url } = {}) => {
  const method = describeOperation(operation)
  const sent = new Headers({
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(organization !== undefined && { 'x-service-orgid': organization }),
    ...headers,
  })
  try {
    const { message, header, trailer } = await transportOf(url ?? inject('roster').url).unary(
      method,
      undefined,
      undefined,
      sent,
      fromJson(method.input, request, { registry }),
    )
    const ok = toJson(method.output, message, { registry }) as JsonObject
    return { ok, error: undefined, http: 200, headers: { ...plain(header), ...plain(trailer) } }
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error
    return { ok: undefined, error: readError(error), http: 200, headers: plain(error.metadata) }
  }
}

function transportOf(baseUrl: string): Transport {
  let transport = transports.get(baseUrl)
  if (!transport) transports.set(baseUrl, (transport = createGrpcWebTransport({ baseUrl })))
  return transport
}

/** The Status of an error. connect-web takes it apart, so this puts it together again. */
export function readError(error: ConnectError): Answer['error'] {
  if (error.code === Code.Unknown && error.details.length === 0) throw error
  const details = error.details.map((detail) => {
    if (!('type' in detail)) throw new Error('a detail of the client itself')
    return { typeUrl: `type.googleapis.com/${detail.type}`, value: Buffer.from(detail.value) }
  })
  return decodeStatus(Status.encode({ code: error.code, message: error.rawMessage, details }).finish())
}

function plain(headers: Headers): Record<string, string> {
  return Object.fromEntries(headers)
}
