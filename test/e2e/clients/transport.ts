import { fromJson, type JsonObject, toJson } from '@bufbuild/protobuf'
import { Code, ConnectError, type Transport } from '@connectrpc/connect'
import { inject } from 'vitest'
import { registry } from '#lib/registry'
import type { Answer, Call } from './call.ts'
import { decodeStatus, describeOperation } from './messages.ts'
import { Status } from '#gen/google/rpc/status'

/** Calls over the transport that a library of Connect makes for an address. `http` is the status of its answers. */
export function callOver(createTransport: (baseUrl: string) => Transport, http: number): Call {
  const transports = new Map<string, Transport>()
  const transportOf = (baseUrl: string) => {
    let transport = transports.get(baseUrl)
    if (!transport) transports.set(baseUrl, (transport = createTransport(baseUrl)))
    return transport
  }
  return async (operation, request = {}, { token, organization, headers, url } = {}) => {
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
      return { ok, error: undefined, http, headers: { ...plain(header), ...plain(trailer) } }
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error
      return { ok: undefined, error: readError(error), http, headers: plain(error.metadata) }
    }
  }
}

/** The Status of an error. The library takes it apart, so this puts it together again. */
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
