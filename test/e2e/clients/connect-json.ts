import { equals, fromBinary, fromJson, type JsonObject } from '@bufbuild/protobuf'
import { codes } from '#lib/errors'
import { registry } from '#lib/registry'
import { inject } from 'vitest'
import { Status as StatusMessage } from '#gen/google/rpc/status'
import type { Call, Status } from './call.ts'
import { decodeStatus, grpcPath } from './messages.ts'

/** Connect in JSON, by hand, which also checks the wire format. */
export const callConnectJson: Call = async (operation, request = {}, { token, organization, headers, url } = {}) => {
  const response = await fetch((url ?? inject('roster').url) + grpcPath(operation), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'connect-protocol-version': '1',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(organization !== undefined && { 'x-service-orgid': organization }),
      ...headers,
    },
    body: JSON.stringify(request),
  })
  const body = (await response.json()) as JsonObject
  const answer = { http: response.status, headers: Object.fromEntries(response.headers) }
  if (response.ok) return { ...answer, ok: body, error: undefined }
  return { ...answer, ok: undefined, error: readError(body as unknown as ConnectJson) }
}

interface ConnectJson {
  code: string
  message: string
  details: { type: string; value: string; debug: JsonObject }[]
}

/** The Status of an error of Connect. */
export function readError({ code, message, details }: ConnectJson): Status {
  const sent = details.map(({ type, value, debug }) => {
    const desc = registry.getMessage(type)!
    const bytes = Buffer.from(value, 'base64')
    if (!equals(desc, fromBinary(desc, bytes), fromJson(desc, debug, { registry })))
      throw new Error(`a ${type} has another meaning as people read it: ${JSON.stringify(debug)}`)
    return { typeUrl: `type.googleapis.com/${type}`, value: bytes }
  })
  const name = code === 'canceled' ? 'CANCELLED' : code.toUpperCase()
  const number = codes[name as keyof typeof codes]
  if (code !== code.toLowerCase() || number === undefined) throw new Error(`${code} is no code of Connect`)
  return decodeStatus(StatusMessage.encode({ code: number, message, details: sent }).finish())
}
