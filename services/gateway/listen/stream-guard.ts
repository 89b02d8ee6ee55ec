import { subscribe } from 'node:diagnostics_channel'
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { limitsHit } from '#lib/limits-hit'
import { type Bucket, createBucket, createRecent, wait, wear } from '#lib/token-bucket'
import { networkOf } from './client-addresses.ts'

export interface StreamGuardSettings {
  MAX_STREAMS_PER_CONNECTION: number
  TRUSTED_PROXIES: number
}

/**
 * Bounds the streams that clients open over HTTP/2 in one turn of the event loop, and those that are reset. It counts a
 * stream before anything else is done for it. A connection over its bound loses its socket at once. Where connections
 * without a token together reach theirs, all of them are read again in the next turn.
 */
export interface StreamGuard {
  /** Serves the connection by `serve`: at once, or in a later turn. */
  admit(socket: Socket, serve: (socket: Socket) => void): void
  /** Says that the client of this session has shown a valid token. */
  trust(session: object): void
}

interface Connection {
  socket: Socket
  network: string
  turn: number
  /** Streams that it opened in this turn. */
  opened: number
  resets: Bucket
}

/** Streams a second that are reset, by the client or for its bad frames, and how many at once. */
const [resetRate, resetBurst] = [100, 200]
/** The same of an address. Near it, a connection of the address without a token may open only `few` in a turn. */
const [addressRate, addressBurst, few] = [100, 1000, 8]
/** What a connection may open in a turn beyond those that may be under way: it resets some itself. */
const slack = 20
/** Streams that connections without a token may open together in a turn, some milliseconds of work; a connection counts as `newConnection`. */
const [strangersBudget, newConnection] = [64, 16]

/** Creates the guard of a gateway. `clock` gives milliseconds and never goes back. */
export function createStreamGuard(config: StreamGuardSettings, clock: () => number): StreamGuard {
  const most = config.MAX_STREAMS_PER_CONNECTION + slack
  const atOnce = Math.min(most, addressBurst / 2)
  const addresses = createRecent(createBucket, (addressBurst / addressRate) * 1000)
  const sessions = new WeakMap<object, Connection>()
  /** Connections without a token. Those that opened a stream last are read last. */
  const strangers = new Set<Connection>()
  const waiting: (() => void)[] = []
  let [turn, opened, isPaused, isScheduled] = [0, 0, false, false]

  function endTurnSoon() {
    if (!isScheduled) setImmediate(endTurn)
    isScheduled = true
  }

  // Immediates run after all sockets that had something to read.
  function endTurn() {
    turn++
    opened = 0
    isScheduled = false
    // Where some wait to be read again and others for their first time, they take turns.
    if (waiting.length > 0 && (turn % 2 === 0 || !isPaused)) {
      serveWaiting()
    } else if (isPaused) {
      isPaused = false
      for (const { socket } of strangers) read(socket, 'readStart')
    }
    if (isPaused || waiting.length > 0) endTurnSoon()
  }

  function serveWaiting() {
    if (waiting.length === 0 || opened >= strangersBudget) return
    waiting.shift()!()
    // Node parses what the connection has sent in a tick of its own, before this one.
    process.nextTick(serveWaiting)
  }

  function onStream(connection: Connection, stream: ServerHttp2Stream, session: ServerHttp2Session) {
    endTurnSoon()
    // What ends it before a protocol has it, has no other listener.
    stream.on('error', () => {})
    sessions.set(session, connection)
    if (connection.turn !== turn) Object.assign(connection, { turn, opened: 0 })
    if (++connection.opened > few && connection.opened > mostOf(connection)) return cut(connection, session)
    stream.once('close', () => {
      const isReset = stream.rstCode !== constants.NGHTTP2_NO_ERROR || !stream.writableFinished
      if (isReset && !session.destroyed) countReset(connection, session)
    })
    if (strangers.delete(connection)) countStranger(connection)
  }

  function countStranger(connection: Connection) {
    strangers.add(connection)
    if (++opened < strangersBudget) return
    // Node reads again by itself once it has written.
    for (const { socket } of isPaused ? [connection] : strangers) read(socket, 'readStop')
    isPaused = true
  }

  function mostOf(connection: Connection): number {
    const isSpent = strangers.has(connection) && wait(bucketOf(connection), addressRate, atOnce, secondsOf.address) > 0
    return isSpent ? few : most
  }

  // Behind proxies, all clients share their addresses.
  function bucketOf({ network }: Connection): Bucket {
    if (config.TRUSTED_PROXIES > 0) return createBucket()
    const now = clock()
    const bucket = addresses(network, now)
    wear(bucket, addressRate, now, secondsOf.address)
    return bucket
  }

  function countReset(connection: Connection, session: ServerHttp2Session) {
    const { resets } = connection
    bucketOf(connection).used++
    wear(resets, resetRate, clock(), secondsOf.connection)
    if (wait(resets, resetRate, 1, secondsOf.connection) > 0) cut(connection, session)
    else resets.used++
  }

  function cut(connection: Connection, session: ServerHttp2Session) {
    limitsHit.add(1, 'resets')
    bucketOf(connection).used += connection.opened
    session.destroy(new Error('too many streams'), constants.NGHTTP2_ENHANCE_YOUR_CALM)
    read(connection.socket, 'readStop')
    // The reason has left by then, if it ever will. Node would wait for the end of what is not read any more.
    setImmediate(() => connection.socket.destroy())
  }

  return {
    admit(socket, serve) {
      const network = networkOf(socket.remoteAddress ?? '')
      const connection: Connection = { socket, network, turn, opened: 0, resets: createBucket() }
      strangers.add(connection)
      socket.once('close', () => strangers.delete(connection))
      const onOpened: OnStream = (stream, session) => onStream(connection, stream, session)
      Object.assign(socket, { [guarded]: onOpened })
      const begin = () => {
        opened += newConnection
        endTurnSoon()
        serve(inOnePiece(socket))
      }
      if (opened < strangersBudget && waiting.length === 0) return begin()
      // It is served later, and so are its errors.
      socket.on('error', () => {})
      read(socket, 'readStop')
      waiting.push(() => {
        if (socket.destroyed) return
        begin()
        // Else it is read again with the others.
        if (!isPaused) read(socket, 'readStart')
      })
      endTurnSoon()
    },
    trust(session) {
      const connection = sessions.get(session)
      if (connection && strangers.delete(connection) && isPaused) read(connection.socket, 'readStart')
    },
  }
}

const secondsOf = { connection: resetBurst / resetRate, address: addressBurst / addressRate }

type OnStream = (stream: ServerHttp2Stream, session: ServerHttp2Session) => void
const guarded = Symbol('guarded')

// Node publishes this while it parses. Its event `stream` comes too late: 64 KiB, which it reads at once, have room for
// 2,500 streams that are opened and reset, of 90 µs each (CVE-2023-44487, CVE-2025-8671).
subscribe('http2.server.stream.created', (message) => {
  const { stream } = message as { stream: ServerHttp2Stream }
  const session = stream.session as ServerHttp2Session | undefined
  const socket = session?.socket
  if (socket) (Reflect.get(socket, guarded) as OnStream | undefined)?.(stream, session)
})

// Node hands HTTP/2 what a socket has read already piece by piece, and fails if the connection ends meanwhile.
function inOnePiece(socket: Socket): Socket {
  const pieces: Buffer[] = []
  for (let piece; (piece = socket.read() as Buffer | null);) pieces.push(piece)
  if (pieces.length > 0) socket.unshift(Buffer.concat(pieces))
  return socket
}

// Node's HTTP/2 reads from the handle of a socket by itself, and offers no way to pause it. Should a later version keep
// its handles elsewhere, it would read on, and a test would fail.
function read(socket: Socket, does: 'readStart' | 'readStop') {
  const { _handle: handle } = socket as Socket & { _handle?: Record<typeof does, () => void> | null }
  handle?.[does]()
}
