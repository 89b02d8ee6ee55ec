import { promisify } from 'node:util'
import { gunzip, inflate as inflateZlib } from 'node:zlib'
import { RosterError } from '#lib/errors'
import { type Allowance, tooLarge } from '../arrival/body.ts'

const ways = new Map([
  ['gzip', promisify(gunzip)],
  ['deflate', promisify(inflateZlib)],
])

/** The value of `grpc-accept-encoding`. */
export const takenCompressions: string = ['identity', ...ways.keys()].join(',')

/**
 * Inflates a compressed message, as far as the allowance goes. UNIMPLEMENTED COMPRESSION_UNSUPPORTED; INVALID_ARGUMENT
 * FRAME_MALFORMED; RESOURCE_EXHAUSTED REQUEST_TOO_LARGE, TOO_MUCH_UNDER_WAY.
 */
export async function inflate(message: Uint8Array, way = 'identity', { bytes, hold }: Allowance): Promise<Uint8Array> {
  if (way === 'identity') throw malformed(way)
  const work = ways.get(way)
  if (!work) throw compressionUnsupported()
  // The inflated size is not known yet, so the largest allowed counts.
  hold.take(bytes)
  try {
    return await work(message, { maxOutputLength: bytes })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(bytes)
    throw malformed(way, cause)
  }
}

/** The error of a message whose compression the gateway does not know. */
export function compressionUnsupported(): RosterError {
  return new RosterError(
    'UNIMPLEMENTED',
    'COMPRESSION_UNSUPPORTED',
    'The gateway does not know the compression of the message.',
  )
}

function malformed(way: string, cause?: unknown) {
  return new RosterError('INVALID_ARGUMENT', 'FRAME_MALFORMED', `The message is not compressed as ${way}.`, { cause })
}
