import { type JsonObject, fromJson, toJson } from '@bufbuild/protobuf'
import { inject } from 'vitest'
import { registry } from '#lib/registry'
import type { Answer, Call } from './call.ts'
import { describeOperation, readStatus } from './messages.ts'
import { httpRoute } from './route.ts'

/** `application/json` over the HTTP path of the contract. The body leaves out the fields in the path. */
export const callJson: Call = async (operation, request = {}, { token, organization, headers, url } = {}) => {
  const { verb, path, body } = httpRoute(operation, request)
  const response = await fetch((url ?? inject('roster').url) + path, {
    method: verb,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(organization !== undefined && { 'x-service-orgid': organization }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  })
  return readAnswer(response, (json) => {
    const { output } = describeOperation(operation)
    // Read strictly: an unknown field or a wrong type is an error.
    return toJson(output, fromJson(output, json, { registry }), { registry }) as JsonObject
  })
}

/** The answer in a JSON response over HTTP. */
export async function readAnswer(response: Response, read = (json: JsonObject) => json): Promise<Answer> {
  const text = await response.text()
  const json = JSON.parse(text) as JsonObject
  const headers = Object.fromEntries(response.headers)
  if (response.ok) return { ok: read(json), error: undefined, http: response.status, headers }
  return { ok: undefined, error: readStatus(json), http: response.status, headers }
}
