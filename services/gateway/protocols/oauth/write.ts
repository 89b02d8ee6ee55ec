import { fromBinary, toJsonString } from '@bufbuild/protobuf'
import type { Method } from '#lib/rpc/methods'
import { registry } from '#lib/registry'

/** Writes an answer as JSON with the names of the proto. A document has all its fields. */
export function writeOAuth({ desc: { output }, oauth }: Method, answer: Uint8Array): string {
  return toJsonString(output, fromBinary(output, answer), {
    registry,
    useProtoFieldName: true,
    alwaysEmitImplicit: oauth === 'document',
  })
}
