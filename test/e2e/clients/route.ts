import type { JsonObject } from '@bufbuild/protobuf'
import { aliasOf } from '#lib/rpc/aliases'
import { type HttpRule, method } from '#lib/rpc/methods'
import { contract, type Operation } from '../../examples/contract.ts'

/** The HTTP route of a request by the contract: the first whose path it fills. The body leaves out the fields in the path. */
export function httpRoute(operation: Operation, request: JsonObject) {
  const { http, moreHttp, desc } = method(`${contract[operation][0]}.${operation}`)
  // A path says by the place what it names, so another name of the field may have it.
  const nameOf = (field: string) =>
    desc.input.fields
      .filter((each) => [each, ...(aliasOf(each) ?? [])].some(({ name }) => name === field))
      .map(({ jsonName }) => jsonName)
      .find((name) => typeof request[name] === 'string')
  const fills = ({ template }: HttpRule) => fieldsIn(template).every((field) => nameOf(field) !== undefined)
  const rule = [http!, ...moreHttp].find(fills)
  if (!rule) throw new Error(`${operation} needs a ${fieldsIn(http!.template).join(', ')}`)
  const { verb, template, hasBody } = rule
  const inPath = fieldsIn(template).map(nameOf)
  const body = Object.fromEntries(Object.entries(request).filter(([name]) => !inPath.includes(name)))
  const path = template.replace(inBraces, (_, field: string) => encodeURIComponent(request[nameOf(field)!] as string))
  if (hasBody) return { verb, path, body: JSON.stringify(body) }
  const query = new URLSearchParams(body as Record<string, string>).toString()
  return { verb, path: query ? `${path}?${query}` : path, body: undefined }
}

const inBraces = /\{(\w+)(?:=\*\*)?\}/g

function fieldsIn(template: string): string[] {
  return [...template.matchAll(inBraces)].map(([, field]) => field!)
}
