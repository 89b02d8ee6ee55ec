import { type DescField, fromBinary, type JsonObject, toJson } from '@bufbuild/protobuf'
import type { Method } from '#lib/rpc/methods'
import { registry } from '#lib/registry'

/**
 * Writes an answer as JSON with the names of the proto. A document has all its fields. The members of a Struct, whose
 * names no field could have, stand beside the fields.
 */
export function writeOAuth({ desc: { output }, oauth }: Method, answer: Uint8Array): string {
  const json = toJson(output, fromBinary(output, answer), {
    registry,
    useProtoFieldName: true,
    alwaysEmitImplicit: oauth === 'document',
  }) as JsonObject
  const spread = output.fields.filter(isSpread).map(({ name }) => name)
  const named = spread.map((name) => json[name] as JsonObject | undefined)
  for (const name of spread) delete json[name]
  return JSON.stringify(Object.assign(json, ...named))
}

/** Whether the members of a field stand beside it. */
export function isSpread({ message }: DescField): boolean {
  return message?.typeName === 'google.protobuf.Struct'
}
