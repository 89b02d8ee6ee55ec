import { hostname } from 'node:os'
import { connect, type ConnectionOptions, type NatsConnection, type Service } from 'nats'
import type { Log } from './log.ts'

export interface Nats {
  connection: NatsConnection
  /** Whether the server is reachable right now. */
  connected(): boolean
  /** Calls back whenever the connection is lost; gives a function that ends it. */
  onDisconnect(callback: () => void): () => void
}

/**
 * Connects, waiting for the server as long as it takes, and reconnects for ever.
 * User and password are those of the URL; the inbox prefix is the user's, since NATS lets nobody read a foreign inbox.
 */
export async function connectNats(url: string, service: string, log: Log): Promise<Nats> {
  const { protocol, host, username, password } = new URL(url)
  const options: ConnectionOptions = {
    servers: host,
    name: service,
    inboxPrefix: `_INBOX_${service}`,
    maxReconnectAttempts: -1,
    // A server that is still starting, or starved, answers a log-in too late: no reason to give up for good.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    waitOnFirstConnect: true,
    // A stack trace for every request, in case it fails, costs more than the rest of the request.
    noAsyncTraces: true,
    ...(protocol === 'tls:' && { tls: {} }),
    pingInterval: 10_000,
    maxPingOut: 2,
    ...(username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
  }
  const connection = await connect(options)
  const callbacks = new Set<() => void>()
  let connected = true
  const watch = async () => {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect') {
        connected = false
        log.warn('NATS disconnected')
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
    connected: () => connected && !connection.isClosed(),
    onDisconnect(callback) {
      callbacks.add(callback)
      return () => callbacks.delete(callback)
    },
  }
}

/** Registers this process as a NATS micro service: it answers `$SRV.PING`, `INFO` and `STATS`. The name is its queue group too. */
export function addMicroService({ connection }: Nats, name: string): Promise<Service> {
  return connection.services.add({ name, version: '1.0.0', queue: name, metadata: { host: hostname() } })
}
