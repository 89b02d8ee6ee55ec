import type { JsonObject } from '@bufbuild/protobuf'
import type { Method } from '#lib/rpc/methods'
import type { Operation, Stream } from '../../examples/contract.ts'
import { type CallOptions, factsOf } from '../clients/call.ts'
import { callGrpc } from '../clients/grpc.ts'
import { requestsOf } from '../clients/requests.ts'
import { streaming } from '../clients/streams.ts'
import { type ObjectField, objectFields, type Objects } from './stage.ts'

const isOfStage = (name: string) => (objectFields as readonly string[]).includes(name)

/** The fields of a request that hold an id of which the stage has objects. */
export function fieldsOf({ desc }: Method): string[] {
  return desc.input.fields.flatMap(({ name, fieldKind }) =>
    fieldKind === 'scalar' && [name, `${desc.parent.name}.${name}`].some(isOfStage) ? [name] : [],
  )
}

/** Of these objects, the ids that the request of a method takes. */
export function idsOf(method: Method, objects: Objects): Record<string, string> {
  const idOf = (name: string) => {
    const own = `${method.desc.parent.name}.${name}`
    return objects[(isOfStage(own) ? own : name) as ObjectField]
  }
  return Object.fromEntries(fieldsOf(method).map((name) => [name, idOf(name)]))
}

export type Outcome = { code: number; reason: string | undefined; message: string; fields: string[] }

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
  const spelled = Object.fromEntries(desc.input.fields.flatMap(({ name, jsonName }) => (ids[name] ? [[jsonName, ids[name]]] : []))) // prettier-ignore
  const options = { ...caller, ...(!reads && { headers: { 'if-match': '"999999999999"' } }) }
  const least = whole ? requestsOf(desc.name as Operation, { ...spelled, roleKey: 'reader' })[0]! : {}
  const request: JsonObject = { ...least, ...spelled }
  if (!streams) return outcome(await callGrpc(desc.name as Operation, request, options))
  // A rule refuses it, so a stream that passes the permission ends at once.
  const opened = streaming[0].open(desc.name as Stream, { cursor: 'x'.repeat(30_000) }, options)
  return outcome({ ok: undefined, error: await opened.ended, http: 0, headers: {} })
}

function outcome(answer: Parameters<typeof factsOf>[0]): Outcome {
  const { code, reason, fields } = factsOf(answer)
  return { code, reason, message: answer.error?.message ?? '', fields }
}
