import type { JsonObject } from '@bufbuild/protobuf'
import { aliasOf } from '#lib/rpc/aliases'
import { method } from '#lib/rpc/methods'
import { contract, type Operation } from '../../examples/contract.ts'

/** The HTTP route of a request by the contract. The body leaves out the fields in the path. */
export function httpRoute(operation: Operation, request: JsonObject) {
  const [service, http] = contract[operation]
  const [verb, template] = http.split(' ') as [string, string]
  const body = { ...request }
  const { fields } = method(`${service}.${operation}`).desc.input
  const path = template.replace(/\{(\w+)(?:=\*\*)?\}/g, (_, field: string) => {
    // A path says by the place what it names, so another name of the field may have it.
    const names = fields.filter((each) => [each, ...(aliasOf(each) ?? [])].some(({ name }) => name === field))
    const name = names.map(({ jsonName }) => jsonName).find((each) => typeof body[each] === 'string')
    if (name === undefined) throw new Error(`${operation} needs a ${field}`)
    const value = body[name] as string
    delete body[name]
    return encodeURIComponent(value)
  })
  if (method(`${service}.${operation}`).http!.hasBody) return { verb, path, body: JSON.stringify(body) }
  const query = new URLSearchParams(body as Record<string, string>).toString()
  return { verb, path: query ? `${path}?${query}` : path, body: undefined }
}
