import type { IncomingMessage } from 'node:http'
import { RosterError } from '#lib/errors'

/** Bytes that the message of a request may have. */
export const maxRequestBytes = 1024 * 1024

/** Reads the body of a request. RESOURCE_EXHAUSTED REQUEST_TOO_LARGE when it has more than `limit` bytes. */
export function readBody(request: IncomingMessage, limit = maxRequestBytes): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  request.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length <= limit) return void chunks.push(chunk)
    chunks.length = 0
    reject(tooLarge())
    // A little more is read so that the client gets to see the answer.
    if (length > 4 * limit) request.destroy()
  })
  request.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
  request.on('error', (cause) => reject(incomplete(cause)))
  request.on('aborted', () => reject(incomplete()))
  request.on('close', () => {
    if (!request.complete) reject(incomplete())
  })
  if (Number(request.headers['content-length']) > limit) reject(tooLarge())
  return promise
}

/** The error of a request whose message has more bytes than are accepted. */
export function tooLarge(): RosterError {
  return new RosterError('RESOURCE_EXHAUSTED', 'REQUEST_TOO_LARGE', 'The request has more than 1 MiB.')
}

function incomplete(cause?: unknown) {
  return new RosterError('CANCELLED', 'CANCELLED', 'The client went away.', { cause })
}
