import { RosterError } from '#lib/errors'
import { tooLarge } from '../listen/body.ts'

/** The payload of a frame, and whether its flag calls it compressed. */
export interface Framed {
  message: Uint8Array
  isCompressed: boolean
}

/**
 * Reads the one message of a body of frames, of up to `limit` bytes. Frames of gRPC, of gRPC-web and of a Connect
 * stream are alike. UNIMPLEMENTED ONE_MESSAGE_EXPECTED; INVALID_ARGUMENT FRAME_MALFORMED; RESOURCE_EXHAUSTED
 * REQUEST_TOO_LARGE.
 */
export function readFrame(body: Uint8Array, limit: number): Framed {
  if (body.length === 0) throw oneMessageExpected('none')
  if (body.length < 5) throw frameMalformed('it has no complete frame')
  if (body[0]! > 1) throw frameMalformed('its first frame is not a message')
  const length = new DataView(body.buffer, body.byteOffset).getUint32(1)
  if (length > limit) throw tooLarge(limit)
  if (length > body.length - 5) throw frameMalformed('its frame is longer than the body')
  if (length < body.length - 5) throw oneMessageExpected('more')
  return { message: body.subarray(5), isCompressed: body[0] === 1 }
}

export function frame(flag: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(payload.length + 5)
  bytes[0] = flag
  bytes.writeUInt32BE(payload.length, 1)
  bytes.set(payload, 5)
  return bytes
}

/** INVALID_ARGUMENT FRAME_MALFORMED: the body is no frame with one message. */
export function frameMalformed(problem: string): RosterError {
  return new RosterError('INVALID_ARGUMENT', 'FRAME_MALFORMED', `The body is not a message in its frame: ${problem}.`)
}

// gRPC asks for this code where a call of one message has another number of them.
function oneMessageExpected(found: string) {
  const message = `A call has exactly one message, and this one has ${found}.`
  return new RosterError('UNIMPLEMENTED', 'ONE_MESSAGE_EXPECTED', message)
}
