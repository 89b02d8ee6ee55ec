import { createServer, type Server, type ServerOptions } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Log } from '#lib/log'
import type { ReloadedSetting } from '#lib/reloaded-setting'
import { limitsHit } from '#lib/limits-hit'
import { certificateEnd, connections } from '../measures.ts'
import { followCertificate } from './certificate.ts'
import { limitConnections } from './connection-limit.ts'

type FromFile = (log: Log) => ReloadedSetting<string>

export interface ListenerSettings {
  TLS_CERT: FromFile | undefined
  TLS_KEY: FromFile | undefined
  TRUSTED_PROXIES: number
  MAX_CONNECTIONS: number
  MAX_CONNECTIONS_PER_ADDRESS: number
  HEADERS_TIMEOUT_MS: number
  REQUEST_TIMEOUT_MS: number
  KEEP_ALIVE_TIMEOUT_MS: number
}

/** The one port. */
export interface Listener {
  /** The HTTP/1.1 server that listens on it. */
  server: Server
  /** Ends the connections whose protocol is not known yet. */
  closeUndecided(): void
  closeAll(): void
}

type Serve = (socket: Socket) => void

/**
 * Creates an HTTP/1.1 server that hands every HTTP/2 connection to `http2`. Without TLS, the first bytes of a
 * connection decide. With TLS, the agreed protocol does: HTTP/2 with every client that offers it.
 */
export function createListener(config: ListenerSettings, log: Log, http2: Serve): Listener {
  const options: ServerOptions = {
    // Twice what `checkHead` takes: of a page, whose parameters stand in its address, the refusal is a page.
    maxHeaderSize: 32 * 1024,
    headersTimeout: Math.min(config.HEADERS_TIMEOUT_MS, config.REQUEST_TIMEOUT_MS),
    requestTimeout: config.REQUEST_TIMEOUT_MS,
    keepAliveTimeout: config.KEEP_ALIVE_TIMEOUT_MS,
    connectionsCheckingInterval: Math.min(5_000, config.HEADERS_TIMEOUT_MS),
    requireHostHeader: false,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
  }
  const inject: Serve = (socket) => {
    // The HTTP/1.1 server lets a client close its half of a connection. HTTP/2 has no use for the other half.
    socket.allowHalfOpen = false
    http2(socket)
  }
  const server = config.TLS_CERT === undefined ? createServer(options) : createTls(options, config, log)
  // A client with no more to ask may close its half of the connection, and still gets the answer.
  Object.assign(server, { httpAllowHalfOpen: true })
  const event = config.TLS_CERT === undefined ? 'connection' : 'secureConnection'
  const http1 = server.listeners(event)[0] as Serve
  server.removeListener(event, http1)
  const limit = config.TRUSTED_PROXIES > 0 ? Infinity : config.MAX_CONNECTIONS_PER_ADDRESS
  const isOneTooMany = limitConnections(limit, log)
  const all = new Set<Socket>()
  connections.watch(() => all.size)
  const undecided = new Set<Socket>()
  server.prependListener('connection', (socket: Socket) => {
    if (isOneTooMany(socket)) socket.destroy()
    else track(socket, all)
  })
  const decide = (socket: Socket, isHttp2: boolean) => (isHttp2 ? inject(socket) : http1.call(server, socket))
  if (event === 'connection')
    server.on(event, (socket: Socket) => {
      if (socket.destroyed) return
      undecided.add(socket)
      sniff(socket, config.HEADERS_TIMEOUT_MS, (isHttp2) => {
        undecided.delete(socket)
        if (isHttp2 !== undefined) decide(socket, isHttp2)
      })
    })
  else
    server.on(event, (socket: TLSSocket) => {
      decide(socket, socket.alpnProtocol === 'h2')
      // Node's parser takes what is decrypted by itself, also while Node has paused it, and then calls the client's
      // request broken. With a listener, the bytes go through the stream, and wait there.
      if (socket.alpnProtocol !== 'h2') socket.on('data', () => {})
    })
  server.maxConnections = config.MAX_CONNECTIONS
  server.on('drop', () => limitsHit.add(1, 'connections'))
  return { server, closeUndecided: () => destroy(undecided), closeAll: () => destroy(all) }
}

function createTls(
  options: ServerOptions,
  { TLS_CERT, TLS_KEY, HEADERS_TIMEOUT_MS }: ListenerSettings,
  log: Log,
): Server {
  const minVersion = 'TLSv1.2'
  const certificate = followCertificate(TLS_CERT!(log), TLS_KEY!(log), log, (pair) =>
    server.setSecureContext({ ...pair, minVersion }),
  )
  const server = createTlsServer({
    ...options,
    ...certificate.look(),
    allowHalfOpen: true,
    minVersion,
    handshakeTimeout: HEADERS_TIMEOUT_MS,
    ALPNCallback: ({ protocols }) => ['h2', 'http/1.1'].find((protocol) => protocols.includes(protocol)),
  })
  certificateEnd.watch(certificate.endsAt)
  server.prependListener('connection', () => certificate.look())
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  return server
}

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/**
 * Reads just enough of a connection to tell the HTTP/2 preface from any other beginning, and puts it back. Decides on
 * undefined where the connection ended before. A connection that does not show within `timeout` milliseconds is
 * destroyed.
 */
function sniff(socket: Socket, timeout: number, decide: (isHttp2: boolean | undefined) => void) {
  const quit = () => socket.destroy()
  const timer = setTimeout(quit, timeout)
  const settle = (isHttp2: boolean | undefined) => {
    clearTimeout(timer)
    socket.off('readable', look).off('error', quit).off('end', quit).off('close', giveUp)
    decide(isHttp2)
  }
  const giveUp = () => settle(undefined)
  let head = Buffer.alloc(0)
  const look = () => {
    for (let bytes; (bytes = socket.read() as Buffer | null);) {
      head = Buffer.concat([head, bytes])
      const isPreface = head.subarray(0, preface.length).equals(preface.subarray(0, head.length))
      if (isPreface && head.length < preface.length) continue
      socket.unshift(head)
      return settle(isPreface)
    }
  }
  socket.on('readable', look).on('error', quit).on('end', quit).on('close', giveUp)
}

function track(socket: Socket, sockets: Set<Socket>) {
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
}

function destroy(sockets: Set<Socket>) {
  for (const socket of sockets) socket.destroy()
}
