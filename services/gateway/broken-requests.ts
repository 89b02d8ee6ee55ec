import { type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { RosterError } from '#lib/errors'
import { statusToJson } from '#lib/status'
import { httpStatus, protective } from './answers.ts'
import { requestIdOf } from './calls.ts'

/**
 * Answers requests that are no HTTP, too slow or have too long a head with the same error shape, and closes the connection. Who does not
 * read an answer for `patience` milliseconds is cut off.
 */
export function answerBrokenRequests(server: Server, patience: number): void {
  // On a connection with an answer under way, anything written would be read as part of it.
  const busy = new WeakMap<Socket, number>()
  const count = (socket: Socket, change: number) => busy.set(socket, (busy.get(socket) ?? 0) + change)
  server.on('request', ({ socket }, response) => {
    count(socket, 1)
    response.once('close', () => count(socket, -1))
  })
  // What is under way and merely silent may be a stream.
  server.setTimeout(patience, (socket) => {
    if ((busy.get(socket) ?? 0) === 0 || socket.writableLength > 0) socket.destroy()
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || (busy.get(socket) ?? 0) > 0) socket.destroy()
    else socket.end(render(toError(error.code)))
  })
}

function toError(code: string | undefined): RosterError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new RosterError('RESOURCE_EXHAUSTED', 'HEADERS_TOO_LARGE', 'The head of the request has more than 16 KiB.')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new RosterError('DEADLINE_EXCEEDED', 'REQUEST_TIMEOUT', 'The request did not arrive in time.')
  return new RosterError('INVALID_ARGUMENT', 'HTTP_MALFORMED', 'The request is no HTTP.')
}

function render(error: RosterError): string {
  const status = httpStatus(error)
  const body = JSON.stringify(statusToJson(error))
  const headers: Record<string, string> = {
    ...protective,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': requestIdOf(undefined),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n${lines.join('')}\r\n${body}`
}
