import {
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  fromJson,
  type JsonObject,
  toBinary,
  toJson,
} from '@bufbuild/protobuf'
import { method } from '#lib/rpc/methods'
import { registry } from '#lib/registry'
import { contract, type Operation } from '../../examples/contract.ts'
import type { Status } from './call.ts'

/** The descriptor of an operation. */
export function describeOperation(operation: Operation): DescMethodUnary {
  return method(`${contract[operation][0]}.${operation}`).desc as DescMethodUnary
}

/** `/roster.users.v1.UserService/SetEmail` */
export function grpcPath(operation: Operation): string {
  return `/${contract[operation][0]}/${operation}`
}

/** The bytes of a message given in JSON. */
export function encode(desc: DescMessage, json: JsonObject): Uint8Array {
  return toBinary(desc, fromJson(desc, json, { registry }))
}

/** The message of these bytes in canonical JSON. */
export function decode(desc: DescMessage, bytes: Uint8Array): JsonObject {
  return toJson(desc, fromBinary(desc, bytes), { registry }) as JsonObject
}

const status = registry.getMessage('google.rpc.Status')!

/** The Status of these bytes, which `grpc-status-details-bin` holds. */
export function decodeStatus(bytes: Uint8Array): Status {
  return canonical(decode(status, bytes))
}

/** The Status of an HTTP answer, strictly read, in its canonical form for comparison. */
export function readStatus(json: JsonObject): Status {
  return canonical(toJson(status, fromJson(status, json, { registry }), { registry }) as JsonObject)
}

function canonical(json: JsonObject): Status {
  return { message: '', details: [], ...json } as unknown as Status
}
