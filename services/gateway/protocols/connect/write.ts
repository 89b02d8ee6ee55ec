import { fromBinary, toJsonString } from '@bufbuild/protobuf'
import type { Method } from '#lib/rpc/methods'
import { registry } from '#lib/registry'
import { type Exchange, protective, send } from '../../listen/exchange.ts'
import { compress, mayCompress } from '../compression.ts'

/** Gives the bytes of an answer in the encoding of its call. */
export function writeMessage({ desc: { output } }: Method, isJson: boolean, answer: Uint8Array): Uint8Array {
  return isJson ? Buffer.from(toJsonString(output, fromBinary(output, answer), { registry })) : answer
}

/** Answers a call of one message with its answer, compressed where that may be. */
export async function sendAnswer(
  exchange: Exchange,
  method: Method,
  isJson: boolean,
  answer: Uint8Array,
): Promise<void> {
  const { header, headers, hold } = exchange
  const may = mayCompress(method, header('accept-encoding'))
  const compressed = may ? await compress(answer, hold) : undefined
  const own = {
    ...protective,
    'content-type': isJson ? 'application/json' : 'application/proto',
    vary: `${headers['vary']}, Accept-Encoding`,
    ...(compressed && { 'content-encoding': 'gzip' }),
  }
  send(exchange, 200, own, compressed ?? answer)
}
