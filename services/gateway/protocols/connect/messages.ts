import { fromBinary, toBinary, toJsonString } from '@bufbuild/protobuf'
import type { Method } from '#lib/rpc/methods'
import { registry } from '#lib/registry'
import type { ValueLimit } from '../../rate-limits/value-limit.ts'
import { readRequest } from '../json/read.ts'
import { limitValues } from '../wire-values.ts'

/** Gives the request message in bytes. JSON is read as at the HTTP path of the method: see `readRequest`. */
export function readMessage(method: Method, isJson: boolean, message: Uint8Array, values: ValueLimit): Uint8Array {
  const { input } = method.desc
  if (!isJson) return limitValues(input, message, values)
  return toBinary(input, readRequest({ method, variables: [] }, '', message, values))
}

/** Gives the bytes of an answer in the encoding of its call. */
export function writeMessage({ desc: { output } }: Method, isJson: boolean, answer: Uint8Array): Uint8Array {
  return isJson ? Buffer.from(toJsonString(output, fromBinary(output, answer), { registry })) : answer
}
