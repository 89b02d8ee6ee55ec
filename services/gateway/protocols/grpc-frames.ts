import { RosterError } from '#lib/errors'
import { tooLarge } from '../arrival/body.ts'

/**
 * Reads the one message of a body of gRPC or gRPC-web frames, of up to `limit` bytes, and whether it is compressed.
 * INVALID_ARGUMENT FRAME_MALFORMED; RESOURCE_EXHAUSTED REQUEST_TOO_LARGE.
 */
export function readFrame(body: Uint8Array, limit: number): { message: Uint8Array; isCompressed: boolean } {
  if (body.length < 5) throw frameMalformed('it has no complete frame')
  if (body[0]! > 1) throw frameMalformed('its first frame is not a message')
  const length = new DataView(body.buffer, body.byteOffset).getUint32(1)
  if (length > limit) throw tooLarge(limit)
  if (length > body.length - 5) throw frameMalformed('its frame is longer than the body')
  if (length < body.length - 5) throw frameMalformed('something follows its message')
  return { message: body.subarray(5), isCompressed: body[0] === 1 }
}

/** Makes a frame around a message. */
export function frame(flag: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(payload.length + 5)
  bytes[0] = flag
  bytes.writeUInt32BE(payload.length, 1)
  bytes.set(payload, 5)
  return bytes
}

/** INVALID_ARGUMENT FRAME_MALFORMED: the body is no frame with one message. */
export function frameMalformed(problem: string): RosterError {
  return new RosterError('INVALID_ARGUMENT', 'FRAME_MALFORMED', `The body is not a gRPC-web call: ${problem}.`)
}
