import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Answers a request over HTTP/1.1. An answer that leaves before the body is whole ends the connection: some clients
 * (HttpClient of Java) would send their next request in place of the rest. The rest is still read, within the limits of
 * a body: a connection that is closed with unread bytes is reset, and a reset can overtake the answer.
 */
export function answerEarly(request: IncomingMessage, response: ServerResponse, answer: () => void): void {
  if (!isHalfway(request)) return answer()
  // A body that came together with its head is read in this turn of the event loop.
  setImmediate(() => {
    if (isHalfway(request) && !response.headersSent) endAfter(request, response)
    answer()
  })
}

function isHalfway({ httpVersionMajor, complete, headers }: IncomingMessage): boolean {
  if (httpVersionMajor >= 2 || complete) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function endAfter(request: IncomingMessage, response: ServerResponse) {
  response.setHeader('connection', 'close')
  const { socket } = request
  const destroySoon = socket.destroySoon.bind(socket)
  socket.destroySoon = () => {
    if (request.complete) return destroySoon()
    socket.end()
    request.once('close', destroySoon)
  }
}
