import { hostname } from 'node:os'
import {
  connect,
  type ConnectionOptions,
  ErrorCode,
  type MsgHdrs,
  MsgHdrsImpl,
  type NatsConnection,
  NatsError,
  type Service,
} from 'nats'
import type { Log } from './log.ts'
import { type Ask, createRequests } from './requests.ts'

export interface Nats {
  connection: NatsConnection
  ask: Ask
  /** Whether the server is reachable right now. */
  connected(): boolean
  /** Calls back whenever the connection is lost. Gives a function that ends this. */
  onDisconnect(callback: () => void): () => void
}

/**
 * Connects, and reconnects without limit. Waits for the server as long as it takes.
 * User and password come from the URL. The inbox prefix belongs to the user, because NATS lets nobody read a foreign
 * inbox.
 */
export async function connectNats(url: string, service: string, log: Log): Promise<Nats> {
  const { protocol, host, username, password } = new URL(url)
  const options: ConnectionOptions = {
    servers: host,
    name: service,
    inboxPrefix: `_INBOX_${service}`,
    maxReconnectAttempts: -1,
    // A server that is starting or overloaded answers a log-in too late. That is no reason to give up for good.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    waitOnFirstConnect: true,
    // The client would take a stack trace for every request, in case it fails. That costs more than the rest of the
    // request.
    noAsyncTraces: true,
    ...(protocol === 'tls:' && { tls: {} }),
    pingInterval: 10_000,
    maxPingOut: 2,
    ...(username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
  }
  const connection = refuseUnsafeSubjects(await connect(options))
  const requests = createRequests(connection, options.inboxPrefix!)
  const callbacks = new Set<() => void>()
  let connected = true
  const watch = async () => {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect') {
        connected = false
        log.warn('NATS disconnected')
        requests.failAll()
        for (const callback of callbacks) callback()
      }
      if (status.type === 'reconnect') {
        connected = true
        log.info('NATS reconnected')
      }
      if (status.type === 'error') log.error({ error: status.data }, 'NATS error')
    }
  }
  watch().catch((error: unknown) => log.error({ err: error }, 'NATS status'))
  return {
    connection,
    ask: requests.ask,
    connected: () => connected && !connection.isClosed(),
    onDisconnect(callback) {
      callbacks.add(callback)
      return () => callbacks.delete(callback)
    },
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

/**
 * Registers this process as a NATS micro service that answers `$SRV.PING`, `INFO` and `STATS`. Its queue group has the
 * same name. The metadata of `INFO` says how many events are parked.
 */
export function addMicroService({ connection }: Nats, name: string, parked: () => number): Promise<Service> {
  const metadata = {
    host: hostname(),
    // The client reads this for each answer to INFO and STATS, but only once for PING.
    get parked() {
      return String(parked())
    },
  }
  return connection.services.add({ name, version: '1.0.0', queue: name, metadata })
}
