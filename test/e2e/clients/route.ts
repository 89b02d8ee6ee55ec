import type { JsonObject } from '@bufbuild/protobuf'
import { method } from '#lib/rpc/methods'
import { contract, type Operation } from '../../examples/contract.ts'

/** The HTTP route of a request by the contract. The body leaves out the fields in the path. */
export function httpRoute(operation: Operation, request: JsonObject) {
  const [service, http] = contract[operation]
  const [verb, template] = http.split(' ') as [string, string]
  const body = { ...request }
  const path = template.replace(/\{(\w+)(?:=\*\*)?\}/g, (_, field: string) => {
    const name = field.replace(/_(.)/g, (_match, letter: string) => letter.toUpperCase())
    const value = body[name]
    if (typeof value !== 'string') throw new Error(`${operation} needs a ${name}`)
    delete body[name]
    return encodeURIComponent(value)
  })
  if (method(`${service}.${operation}`).http!.hasBody) return { verb, path, body: JSON.stringify(body) }
  const query = new URLSearchParams(body as Record<string, string>).toString()
  return { verb, path: query ? `${path}?${query}` : path, body: undefined }
}
