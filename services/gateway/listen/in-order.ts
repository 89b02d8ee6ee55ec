import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

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
  const lines = new WeakMap<Socket, Waiting[]>()
  const begin = (request: IncomingMessage, response: ServerResponse, line: Waiting[]) => {
    const { socket } = request
    response.on('close', () => {
      const next = line.shift()
      if (!next) lines.delete(socket)
      // The answer may have ended the connection.
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

// Node would still parse every request in the bytes that it has, and these may be thousands, unless it takes one for
// broken. It offers no way to say so. Should a later version keep its parsers elsewhere, it would parse the rest, and a
// test would fail.
function cutOff(socket: Socket) {
  socket.destroy()
  const { parser } = socket as Socket & { parser?: { onIncoming?: () => number } | null }
  if (parser) parser.onIncoming = () => -1
}
