import { fromBinary, toJsonString } from '@bufbuild/protobuf'
import type { Method } from '#lib/rpc/methods'
import { registry } from '#lib/registry'
import { type Exchange, protective, send } from '../../listen/exchange.ts'

/** Writes an answer as canonical JSON. */
export function writeJson({ desc: { output } }: Method, answer: Uint8Array): string {
  return toJsonString(output, fromBinary(output, answer), { registry })
}

export function sendJson(exchange: Exchange, status: number, text: string): void {
  send(exchange, status, { ...protective, 'content-type': 'application/json' }, text)
}
