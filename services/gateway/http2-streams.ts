import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2'
import type { Server } from '@grpc/grpc-js'

type Handle = (request: IncomingMessage, response: ServerResponse) => void
type OnStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: string[]) => void

const grpcType = /^application\/grpc(\+|;|$)/i

/**
 * Lets JSON, gRPC-web and pages be served on the HTTP/2 connections of a gRPC server: streams that are no gRPC go to `handle`, in
 * the shape of HTTP/1.1. A request that takes longer than `timeout` milliseconds to arrive is cut off. To be called once
 * connections can be injected.
 *
 * grpc-js offers no way to share its connections: should a later version keep its servers elsewhere, it answers such streams with
 * its bare 415 again (and a test fails).
 */
export function shareStreams(grpc: Server, handle: Handle, timeout: number): void {
  const servers: unknown = Reflect.get(grpc, 'http2Servers')
  if (!(servers instanceof Map)) return
  const others = createServer()
  others.on('request', (request, response) => {
    const late = setTimeout(() => request.stream.close(), timeout)
    const arrived = () => clearTimeout(late)
    // A reset is an error of the request too, and nobody has to listen for it.
    request.on('end', arrived).on('close', arrived).on('error', arrived)
    handle(request as unknown as IncomingMessage, response as unknown as ServerResponse)
  })
  for (const server of servers.keys() as Iterable<Http2Server>) {
    const serveGrpc = server.listeners('stream') as OnStream[]
    server.removeAllListeners('stream')
    server.on('stream', (stream, headers, flags, rawHeaders) => {
      if (grpcType.test(headers['content-type'] ?? ''))
        for (const serve of serveGrpc) serve.call(server, stream, headers, flags, rawHeaders)
      else if (headers[':path'] === undefined) stream.close()
      else others.emit('stream', stream, headers, flags, rawHeaders)
    })
  }
}
