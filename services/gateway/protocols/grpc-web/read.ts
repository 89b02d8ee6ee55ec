import type { Method } from '#lib/rpc/methods'
import type { Allowance } from '../../listen/admission.ts'
import { readBody } from '../../listen/body.ts'
import type { Exchange } from '../../listen/exchange.ts'
import { limitValues, type ValueLimit } from '../../rate-limits/value-limit.ts'
import { inflate, compressions } from '../compression.ts'
import { frameMalformed, readFrame } from '../frames.ts'

/** Reads the request message of a call, in bytes. */
export async function readCall(
  { request, header }: Exchange,
  { desc: { input } }: Method,
  text: boolean,
  allowance: Allowance,
  values: ValueLimit,
): Promise<Uint8Array> {
  header('content-type')
  const limit = allowance.bytes + 5
  const body = await readBody(request, header('content-length'), allowance, text ? Math.ceil(limit / 3) * 4 : limit)
  const framed = readFrame(text ? decodeText(body.toString('latin1')) : body, allowance.bytes)
  const message = await inflate(framed, header('grpc-encoding'), compressions.grpc, allowance)
  return limitValues(input, message, values)
}

const mostPieces = 1_000

/** Decodes base64 text. It may consist of several pieces, each padded by itself. */
export function decodeText(text: string): Uint8Array {
  const pieces: Buffer[] = []
  let length = 0
  for (const [piece] of text.matchAll(/[A-Za-z0-9+/]+={0,2}/g)) {
    length += piece.length
    if (piece.length % 4 !== 0) throw frameMalformed('it is not base64')
    if (pieces.push(Buffer.from(piece, 'base64')) > mostPieces) throw frameMalformed('it comes in too many pieces')
  }
  if (length !== text.length) throw frameMalformed('it is not base64')
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}
