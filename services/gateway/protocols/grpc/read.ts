import type { Method } from '#lib/rpc/methods'
import type { Allowance } from '../../listen/admission.ts'
import { readBody } from '../../listen/body.ts'
import { limitValues, type ValueLimit } from '../../rate-limits/value-limit.ts'
import { inflate, compressions } from '../compression.ts'
import { readFrame } from '../frames.ts'
import type { Call } from './write.ts'

/** Reads the request message of a call, in bytes. */
export async function readCall(
  { stream, header }: Call,
  { desc: { input } }: Method,
  allowance: Allowance,
  values: ValueLimit,
): Promise<Uint8Array> {
  header('content-type')
  const body = await readBody(stream, header('content-length'), allowance, allowance.bytes + 5)
  const message = await inflate(readFrame(body, allowance.bytes), header('grpc-encoding'), compressions.grpc, allowance)
  return limitValues(input, message, values)
}
