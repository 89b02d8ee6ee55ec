import {
  connect,
  type ConnectionOptions,
  ErrorCode,
  type MsgHdrs,
  MsgHdrsImpl,
  type NatsConnection,
  NatsError,
} from 'nats'
import { refuseOld } from '../health/old-server.ts'
import { createWaits, type Waits } from '../health/waits.ts'
import type { Log } from '../log.ts'
import { type Ask, createNatsRequests } from './nats-requests.ts'
import { readServerUrls } from '../config/server-urls.ts'

export interface Nats {
  connection: NatsConnection
  ask: Ask
  /** Whether the server is reachable right now. */
  connected(): boolean
  /** The servers that the service of this connection waits for. */
  waits: Waits
  /** Calls back whenever the connection is lost. Returns a function that ends this. */
  onDisconnect(callback: () => void): () => void
}

/** Milliseconds after which a server that says nothing counts as away. */
const patience = 2000

/**
 * Connects, and reconnects without limit. Waits for the server as long as it takes. Throws OldServer where it is too
 * old.
 * User and password come from the URL. The inbox prefix belongs to the user, because NATS lets no user read a foreign
 * inbox.
 */
export async function connectNats(url: string, service: string, log: Log): Promise<Nats> {
  const options: ConnectionOptions = {
    ...natsServers(url),
    name: service,
    inboxPrefix: `_INBOX_${service}`,
    maxReconnectAttempts: -1,
    // A server that is starting or overloaded answers a log-in too late. That is no reason to give up for good.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    // Of a try to connect. One that hangs would hold up the next, after the network works again.
    timeout: 5000,
    // The client would take a stack trace for every request, in case it fails. That costs more than the rest of the
    // request.
    noAsyncTraces: true,
    // A server that is silent for nine seconds is gone. The servers look after a service alike: see nats.conf.
    pingInterval: 3000,
    maxPingOut: 2,
  }
  const waits = createWaits(log)
  const connection = refuseUnsafeSubjects(await connectOrWait(options, waits))
  try {
    refuseOld('NATS', connection.info!.version)
  } catch (error) {
    await connection.close()
    throw error
  }
  let connected = true
  const requests = createNatsRequests(connection, options.inboxPrefix!, () => connected)
  const callbacks = new Set<() => void>()
  const watch = async () => {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect') {
        connected = false
        waits.begin('NATS', new Error('the connection is lost'))
        requests.failAll()
        for (const callback of callbacks) callback()
      }
      if (status.type === 'reconnect') {
        connected = true
        waits.end('NATS')
      }
      // Each try to reconnect may fail with such an error.
      if (status.type === 'error' && !waits.has('NATS')) log.error({ error: status.data }, 'NATS error')
    }
  }
  watch().catch((error: unknown) => log.error({ err: error }, 'the status of NATS cannot be read'))
  return {
    connection,
    ask: requests.ask,
    waits,
    connected: () => connected && !connection.isClosed(),
    onDisconnect(callback) {
      callbacks.add(callback)
      return () => callbacks.delete(callback)
    },
  }
}

/**
 * Waits until the server has what was sent, or that it has the subscriptions anew, however often the connection is lost
 * meanwhile. Throws once the connection is closed.
 */
export async function flushed(connection: NatsConnection): Promise<void> {
  for (;;)
    try {
      // Without a connection it waits for the next try to connect.
      return await connection.flush()
    } catch (error) {
      if (!(error instanceof NatsError && error.code === 'DISCONNECT')) throw error
    }
}

/** The servers of a URL, and how to log in. Throws where the URL names none. */
export function natsServers(url: string): ConnectionOptions {
  const { first, hosts } = readServerUrls(url) ?? { first: new URL(url), hosts: [] }
  const { protocol, username, password } = first
  return {
    servers: hosts,
    ...(protocol === 'tls:' && { tls: {} }),
    ...(username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
  }
}

// The error of the first try says why it failed. The client waits in silence.
async function connectOrWait(options: ConnectionOptions, waits: Waits): Promise<NatsConnection> {
  const silent = setTimeout(() => waits.begin('NATS', new Error('it does not answer')), patience)
  try {
    return await connect(options).catch((error: unknown) => {
      waits.begin('NATS', error)
      return connect({ ...options, waitOnFirstConnect: true })
    })
  } finally {
    clearTimeout(silent)
    waits.end('NATS')
  }
}

// The client library writes a subject unchecked. The text after a line break in it would become a separate command.
function refuseUnsafeSubjects(connection: NatsConnection): NatsConnection {
  for (const name of ['publish', 'request', 'requestMany', 'subscribe'] as const) {
    const send = connection[name].bind(connection) as (subject: string, ...rest: unknown[]) => unknown
    const guarded = (subject: string, ...rest: unknown[]) => {
      if (!/^[\x21-\x7e]+$/.test(subject)) throw new Error(`${JSON.stringify(subject)} is no NATS subject`)
      return send(subject, ...rest)
    }
    Object.assign(connection, { [name]: guarded })
  }
  return connection
}

/**
 * Headers of a message to send; undefined values are left out. Throws for a value with a line break: the text after it
 * would become a separate header. The client's own headers are slow: they copy every name and value several times.
 */
export function natsHeaders(values: Record<string, string | undefined>): MsgHdrs {
  let text = 'NATS/1.0\r\n'
  for (const name in values) {
    const value = values[name]
    if (value === undefined) continue
    if (/[\r\n]/.test(value)) throw new NatsError(`the header ${name} has a line break`, ErrorCode.BadHeader)
    text += `${name}: ${value}\r\n`
  }
  return new WrittenHeaders(text + '\r\n')
}

class WrittenHeaders extends MsgHdrsImpl {
  readonly text: string

  constructor(text: string) {
    super()
    this.text = text
  }

  // The client asks for nothing else of headers that it sends.
  override encode(): Uint8Array {
    return Buffer.from(this.text)
  }
}
