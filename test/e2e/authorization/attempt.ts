import { type DescField, type JsonObject, ScalarType } from '@bufbuild/protobuf'
import { aliasOf } from '#lib/rpc/aliases'
import type { Method } from '#lib/rpc/methods'
import type { Operation, Stream } from '../../examples/contract.ts'
import { type Answer, type CallOptions, factsOf } from '../clients/call.ts'
import { callGrpc } from '../clients/grpc.ts'
import { requestsOf } from '../clients/requests.ts'
import { streaming } from '../clients/streams.ts'
import { type ObjectField, objectFields, type Objects } from './stage.ts'

/** The fields of a request that hold an id of which the stage has objects, each by its first name. */
export function fieldsOf({ desc }: Method): string[] {
  return desc.input.fields.flatMap((field) =>
    !aliasOf(field) && objectFieldOf(desc.parent.name, field) && field.scalar === ScalarType.STRING ? [field.name] : [],
  )
}

// `grant_ids` is a list of what `grant_id` is one of.
function objectFieldOf(service: string, { name, fieldKind }: DescField): ObjectField | undefined {
  const single = fieldKind === 'list' ? name.replace(/s$/, '') : name
  return objectFields.find((each) => each === `${service}.${single}`) ?? objectFields.find((each) => each === single)
}

/** Of these objects, the ids that the request of a method takes. */
export function idsOf(method: Method, objects: Objects): Record<string, string> {
  const { parent, input } = method.desc
  return Object.fromEntries(
    fieldsOf(method).map((name) => {
      const field = input.fields.find((each) => each.name === name)!
      return [name, objects[objectFieldOf(parent.name, field)!]]
    }),
  )
}

export interface Outcome {
  code: number
  reason: string | undefined
  message: string
  fields: string[]
  /** The response without the ids of the request. */
  response: string | undefined
}

/**
 * Calls the method with these ids, and nothing else; or `whole`, in a valid request. No object has the sequence that
 * the call asks for, so a write that passes the permission changes nothing.
 */
export async function attempt(
  method: Method,
  ids: Record<string, string>,
  caller: CallOptions,
  whole = false,
): Promise<Outcome> {
  const { desc, reads, streams } = method
  const spelled: JsonObject = {}
  for (const { name, jsonName, fieldKind } of desc.input.fields)
    if (ids[name] !== undefined) spelled[jsonName] = fieldKind === 'list' ? [ids[name]] : ids[name]
  const options = { ...caller, ...(!reads && { headers: { 'if-match': '"999999999999"' } }) }
  const least = whole ? { ...requestsOf(desc.name as Operation, { ...ids, roleKey: 'reader' })[0]! } : {}
  for (const { name, oneof } of desc.input.fields)
    if (ids[name] !== undefined) for (const other of oneof?.fields ?? []) delete least[other.jsonName]
  const request: JsonObject = { ...least, ...spelled }
  if (!streams) return outcome(await callGrpc(desc.name as Operation, request, options), ids)
  // A rule refuses it, so a stream that passes the permission ends at once.
  const opened = streaming[0].open(desc.name as Stream, { cursor: 'x'.repeat(30_000) }, options)
  return outcome({ ok: undefined, error: await opened.ended, http: 0, headers: {} }, ids)
}

function outcome(answer: Answer, ids: Record<string, string>): Outcome {
  const { code, reason, fields } = factsOf(answer)
  const response =
    answer.ok && Object.values(ids).reduce((text, id) => text.replaceAll(id, ''), JSON.stringify(answer.ok))
  return { code, reason, message: answer.error?.message ?? '', fields, response }
}
