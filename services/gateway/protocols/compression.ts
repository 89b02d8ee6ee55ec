import { promisify } from 'node:util'
import { constants, gunzip, gzip as gzipPlain, inflate as inflateZlib } from 'node:zlib'
import { RosterError } from '#lib/errors'
import type { Method } from '#lib/rpc/methods'
import type { Allowance } from '../listen/admission.ts'
import { tooLarge } from '../listen/body.ts'
import type { Hold } from '../rate-limits/under-way.ts'
import { frame, type Framed } from './frames.ts'

/** The compressions of messages. HTTP calls two formats "deflate", so that Connect takes gzip alone. */
export const compressions = { grpc: ['gzip', 'deflate'], connect: ['gzip'] }
const decompressors = new Map([
  ['gzip', promisify(gunzip)],
  ['deflate', promisify(inflateZlib)],
])

/** The value of `grpc-accept-encoding`. */
export const acceptedCompressions: string = ['identity', ...compressions.grpc].join(',')

/**
 * Gives the message as its client wrote it, within the allowance. `name` is the value of the header of the compression.
 * UNIMPLEMENTED COMPRESSION_UNSUPPORTED; INTERNAL COMPRESSION_UNNAMED; INVALID_ARGUMENT FRAME_MALFORMED;
 * RESOURCE_EXHAUSTED REQUEST_TOO_LARGE, TOO_MUCH_UNDER_WAY.
 */
export async function inflate(
  { message, isCompressed }: Framed,
  name = 'identity',
  known: string[],
  { bytes, hold }: Allowance,
): Promise<Uint8Array> {
  const decompress = known.includes(name) ? decompressors.get(name) : undefined
  if (!decompress && name !== 'identity') throw compressionUnsupported(known)
  if (!isCompressed) return message
  if (!decompress) throw compressionUnnamed()
  // The inflated size is not known yet, so the largest allowed counts.
  hold.take(bytes + inflating)
  try {
    return await decompress(message, { maxOutputLength: bytes })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(bytes)
    throw new RosterError('INVALID_ARGUMENT', 'FRAME_MALFORMED', `The message is not compressed as ${name}.`, { cause })
  } finally {
    hold.add(-inflating)
  }
}

/** Memory of zlib while it inflates. */
const inflating = 48 * 1024

/** Shorter answers would hardly become smaller. */
const worthwhile = 1024
const gzip = promisify(gzipPlain)
const settings = { level: constants.Z_BEST_SPEED, windowBits: 14, memLevel: 7 }
/** Memory of zlib while it compresses with these settings. */
const deflating = 128 * 1024

/**
 * Whether answers of the method may be compressed for a client that takes `accepted`. Only answers to reads are: they
 * hold no secret. The size of a compressed answer could reveal a secret to an attacker who chooses text beside it.
 */
export function mayCompress({ reads }: Method, accepted: string | undefined): boolean {
  return reads && (accepted ?? '').split(',').some((part) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(part))
}

/** Compresses an answer. Undefined where that does not pay, or where there is no room for it. */
export async function compress(answer: Uint8Array, hold: Hold | undefined): Promise<Uint8Array | undefined> {
  if (answer.length < worthwhile || !hold) return undefined
  const needed = deflating + answer.length
  try {
    hold.take(needed)
  } catch {
    return undefined
  }
  const compressed = await gzip(answer, settings)
  hold.add(-needed)
  return compressed.length < answer.length ? compressed : undefined
}

/** Makes the frame of an answer, which is compressed where it may be. */
export async function frameAnswer(answer: Uint8Array, may: boolean, hold: Hold | undefined): Promise<Buffer> {
  const compressed = may ? await compress(answer, hold) : undefined
  return compressed ? frame(1, compressed) : frame(0, answer)
}

function compressionUnsupported(known: string[]) {
  const message = `The gateway does not know the compression of the message. It knows ${known.join(' and ')}.`
  return new RosterError('UNIMPLEMENTED', 'COMPRESSION_UNSUPPORTED', message)
}

// gRPC asks for this code, although the client is at fault.
function compressionUnnamed() {
  const message = 'The frame says that the message is compressed, and no header says how.'
  return new RosterError('INTERNAL', 'COMPRESSION_UNNAMED', message)
}
