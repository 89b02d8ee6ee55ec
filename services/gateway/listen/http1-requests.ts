import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { RosterError } from '#lib/errors'
import { statusToJson } from '#lib/status'
import { headersTooLarge } from './admission.ts'
import { breakBody, requestTimeout } from './body.ts'
import { requestIdOf } from './headers.ts'
import { protective } from './exchange.ts'
import { httpStatus } from './http-status.ts'
import { brokenRequests } from '../measures.ts'

type Handle = (request: IncomingMessage, response: ServerResponse) => void

interface Waiting {
  request: IncomingMessage
  response: ServerResponse
  /** Bytes that the connection had received when this request arrived. */
  bytesBefore: number
}

/**
 * How many requests of a connection may wait for the one before them, and how many bytes may arrive while one waits.
 */
const [mostWaiting, mostBytes] = [16, 64 * 1024]

/**
 * Handles the requests of each HTTP/1.1 connection one after the other: the next once the answer before it has left. A
 * connection that sends more requests or bytes than may wait is destroyed.
 */
export function inOrder(handle: Handle): Handle {
  const queues = new WeakMap<Socket, Waiting[]>()
  const begin = (request: IncomingMessage, response: ServerResponse, queue: Waiting[]) => {
    const { socket } = request
    response.on('close', () => {
      const next = queue.shift()
      if (!next) queues.delete(socket)
      // The answer may have ended the connection.
      else if (socket.writable) begin(next.request, next.response, queue)
    })
    handle(request, response)
  }
  return (request, response) => {
    const { socket } = request
    if (socket.destroyed) return
    const queue = queues.get(socket)
    if (!queue) {
      const empty: Waiting[] = []
      queues.set(socket, empty)
      return begin(request, response, empty)
    }
    const { bytesRead } = socket
    if (queue.length === mostWaiting || bytesRead - (queue[0]?.bytesBefore ?? bytesRead) > mostBytes) cutOff(socket)
    else queue.push({ request, response, bytesBefore: bytesRead })
  }
}

// Node would still parse every request in the bytes that it has, and these may be thousands, unless it takes one for
// broken. It offers no way to say so. Should a later version keep its parsers elsewhere, it would parse the rest, and a
// test would fail.
function cutOff(socket: Socket) {
  socket.destroy()
  const { parser } = socket as Socket & { parser?: { onIncoming?: () => number } | null }
  if (parser) parser.onIncoming = () => -1
}

/**
 * Answers a request that is no HTTP, is too slow, has too long a head or breaks midway. The answer has the shape of
 * every error, and ends the connection. A client that does not read an answer for `patience` milliseconds is cut off.
 */
export function answerBrokenRequests(server: Server, patience: number): void {
  const underWay = new WeakMap<Socket, ServerResponse[]>()
  const busy = (socket: Socket) => underWay.get(socket) ?? []
  const latest = new WeakMap<Socket, IncomingMessage>()
  const track = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    latest.set(socket, request)
    underWay.set(socket, [...busy(socket), response])
    response.on('close', () =>
      underWay.set(
        socket,
        busy(socket).filter((other) => other !== response),
      ),
    )
  }
  server.prependListener('request', track).prependListener('checkExpectation', track)
  // A silent connection with a request under way may be a stream: leave it unless its client does not read.
  server.setTimeout(patience, (socket) => {
    if (busy(socket).length === 0 || socket.writableLength > 0) socket.destroy()
  })
  server.on('clientError', (failure: NodeJS.ErrnoException, socket: Socket) => {
    if (failure.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    const error = toError(failure.code)
    const answers = busy(socket)
    const halfway = answers.find(({ req }) => !req.complete)
    // The client would read anything written now as part of the answers under way, so wait for their end. Write nothing
    // where the latest request has its answer already, although the rest of its body is still to come.
    const end = () => {
      if (busy(socket).length === 0) socket.end(latest.get(socket)?.complete === false ? '' : render(error))
    }
    for (const response of answers) response.once('close', end)
    if (halfway) giveUp(halfway, error)
    else brokenRequests.add(1, error.reason)
    end()
  })
}

function giveUp(response: ServerResponse, error: RosterError) {
  const { req: request } = response
  // An answer whose head has left cannot become an error any more.
  if (response.headersSent) return void request.socket.destroy()
  response.setHeader('connection', 'close')
  breakBody(request, error)
}

function toError(code: string | undefined): RosterError {
  if (code === 'HPE_HEADER_OVERFLOW') return headersTooLarge()
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return requestTimeout()
  return new RosterError('INVALID_ARGUMENT', 'HTTP_MALFORMED', 'The request is not valid HTTP.')
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
