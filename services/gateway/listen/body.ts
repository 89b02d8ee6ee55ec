import { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { RosterError } from '#lib/errors'
import { unreadBytes } from '../rate-limits/under-way.ts'
import type { Allowance } from './admission.ts'
import type { Header } from './headers.ts'

const mebibyte = 1024 * 1024

/**
 * Reads the body of a request, of up to `limit` bytes. `announced` is its Content-Length. RESOURCE_EXHAUSTED
 * REQUEST_TOO_LARGE, TOO_MUCH_UNDER_WAY; DEADLINE_EXCEEDED REQUEST_TIMEOUT; CANCELLED where it ends too soon; the error
 * that `breakBody` was given.
 */
export function readBody(
  request: Readable,
  announced: string | undefined,
  { bytes, patience, hold }: Allowance,
  limit = bytes,
): Promise<Buffer> {
  if (isWhole(request)) return takeBody(request, { bytes, hold }, limit)
  // Let one buffer grow. A list of small pieces would take more memory for each piece than the piece has bytes.
  let [body, length, beyond] = [Buffer.alloc(0), 0, 0]
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  let settled = false
  const fail = (error: RosterError) => {
    settled = true
    body = Buffer.alloc(0)
    clearTimeout(timer)
    reject(error)
  }
  const grow = (needed: number) => {
    const size = Math.min(limit, Math.max(needed, 2 * body.length, 1024))
    hold.take(size - body.length)
    const grown = Buffer.allocUnsafe(size)
    body.copy(grown, 0, 0, length)
    body = grown
  }
  const timer = setTimeout(() => fail(requestTimeout()), patience)
  request.on('data', (chunk: Buffer) => {
    if (settled) {
      // Read a little more: a client whose writes fail would not get to see the answer.
      beyond += chunk.length
      if (beyond > 4 * mebibyte) request.destroy()
      return
    }
    if (length + chunk.length > limit) return fail(tooLarge(bytes))
    try {
      if (length + chunk.length > body.length) grow(length + chunk.length)
    } catch (error) {
      return fail(error as RosterError)
    }
    length += chunk.copy(body, length)
  })
  request.on('end', () => {
    if (settled) return
    if ((request as { aborted?: boolean }).aborted) return fail(incomplete())
    settled = true
    hold.add(-unreadBytes)
    clearTimeout(timer)
    resolve(body.subarray(0, length))
  })
  const leave = (cause?: unknown) => {
    if (!settled) fail(incomplete(cause))
  }
  request.on('error', leave).on('aborted', leave).on('close', leave)
  request.on(broken, (error: RosterError) => {
    if (!settled) fail(error)
  })
  const known = brokenBodies.get(request)
  if (known) fail(known)
  else if (Number(announced) > limit) fail(tooLarge(bytes))
  // A stream without a body may have ended before this listened.
  else if (request.readableEnded) request.emit('end')
  return promise
}

// A short request over HTTP/1.1 comes at once, head and body.
function isWhole(request: Readable & { complete?: boolean }): boolean {
  return request instanceof IncomingMessage && request.complete && !request.destroyed
}

async function takeBody(request: Readable, { bytes, hold }: Pick<Allowance, 'bytes' | 'hold'>, limit: number) {
  // Node 26 gives one piece at a time.
  const pieces: Buffer[] = []
  for (let piece; (piece = request.read() as Buffer | null);) pieces.push(piece)
  const [first] = pieces
  const body = first && pieces.length === 1 ? first : Buffer.concat(pieces)
  if (body.length > limit) throw tooLarge(bytes)
  hold.take(body.length)
  hold.add(-unreadBytes)
  // The copy does not keep the rest of what came with the body in memory.
  return Buffer.from(body)
}

/**
 * INVALID_ARGUMENT CONTENT_ENCODING_UNSUPPORTED for a body that its client has compressed, at a path that undoes no
 * compression.
 */
export function checkContentEncoding(header: Header): void {
  if (/^(identity)?$/i.test(header('content-encoding') ?? '')) return
  const text = 'The header content-encoding must be left out: this path reads no compressed body.'
  throw new RosterError('INVALID_ARGUMENT', 'CONTENT_ENCODING_UNSUPPORTED', text)
}

const broken = Symbol('broken')
const brokenBodies = new WeakMap<Readable, RosterError>()

/** Fails the reader of this request's body, whose rest will not come: `readBody` throws the error, now or later. */
export function breakBody(request: Readable, error: RosterError): void {
  brokenBodies.set(request, error)
  request.emit(broken, error)
}

/** The error of a message with more than `limit` bytes. */
export function tooLarge(limit: number): RosterError {
  const most = limit >= mebibyte ? `${limit / mebibyte} MiB` : `${limit / 1024} KiB`
  return new RosterError('RESOURCE_EXHAUSTED', 'REQUEST_TOO_LARGE', `The request has more than ${most}.`)
}

export function requestTimeout(): RosterError {
  return new RosterError('DEADLINE_EXCEEDED', 'REQUEST_TIMEOUT', 'The request did not arrive in time.')
}

function incomplete(cause?: unknown) {
  return new RosterError('CANCELLED', 'CANCELLED', 'The client went away.', { cause })
}
