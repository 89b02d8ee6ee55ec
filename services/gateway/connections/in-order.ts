import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Handle = (request: IncomingMessage, response: ServerResponse) => void

interface Waiting {
  request: IncomingMessage
  response: ServerResponse
  /** Bytes that the connection had brought when it came. */
  bytesBefore: number
}

/** Requests of a connection that may wait for the one before them, and bytes that may come while one waits. */
const [mostWaiting, mostBytes] = [16, 64 * 1024]

/**
 * Handles the requests of each HTTP/1.1 connection one after the other: the next one once the answer before it has left. A
 * connection that brings more than may wait is destroyed.
 */
export function inOrder(handle: Handle): Handle {
  const lines = new WeakMap<Socket, Waiting[]>()
  const begin = (request: IncomingMessage, response: ServerResponse, line: Waiting[]) => {
    const { socket } = request
    response.once('close', () => {
      const next = line.shift()
      if (!next) lines.delete(socket)
      // An answer may have been the last one of its connection.
      else if (socket.writable) begin(next.request, next.response, line)
    })
    handle(request, response)
  }
  return (request, response) => {
    const { socket } = request
    if (socket.destroyed) return
    const line = lines.get(socket)
    if (!line) {
      const empty: Waiting[] = []
      lines.set(socket, empty)
      return begin(request, response, empty)
    }
    const { bytesRead } = socket
    if (line.length === mostWaiting || bytesRead - (line[0]?.bytesBefore ?? bytesRead) > mostBytes) cutOff(socket)
    else line.push({ request, response, bytesBefore: bytesRead })
  }
}

// Node would still read all requests of the bytes at hand, of which there may be thousands, unless told that one is broken. It
// offers no way to say so: should a later version keep its parsers elsewhere, the rest is read (and a test fails).
function cutOff(socket: Socket) {
  socket.destroy()
  const { parser } = socket as Socket & { parser?: { onIncoming?: () => number } | null }
  if (parser) parser.onIncoming = () => -1
}
