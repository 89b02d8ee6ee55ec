import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { NatsConnection, Service } from 'nats'
import type { Nats } from '../nats/connect-nats.ts'
import { roster } from '../health/release.ts'

/** Answers to `$SRV.INFO` name their process by this, also before it is ready. */
const instances = new WeakMap<NatsConnection, string>()

/**
 * Registers this process as a NATS micro service that answers `$SRV.PING`, `INFO` and `STATS`. Its queue group has the
 * same name. The metadata of `INFO` says how many events are dead letters, which servers the service waits for, and
 * whether it is on trial. A service that refuses every call counts as one that has not started.
 */
export function addMicroService(
  nats: Nats,
  name: string,
  { deadLetters, streamIsAhead, refuses, isDrill }: State,
): Promise<Service> {
  const metadata = {
    ...metadataOf(nats),
    ...(isDrill && { drill: 'true' }),
    // The client reads these for each answer to INFO and STATS, but only once for PING.
    get parked() {
      return String(deadLetters())
    },
    get ahead() {
      return streamIsAhead() ? 'true' : ''
    },
    get waiting() {
      return String(nats.waits)
    },
    get starting() {
      return refuses() ? 'true' : ''
    },
  }
  return nats.connection.services.add({ name, version: roster.version, queue: name, metadata })
}

interface State {
  deadLetters: () => number
  streamIsAhead: () => boolean
  refuses: () => boolean
  isDrill?: boolean
}

/**
 * Answers `$SRV.INFO` alone, for a service that cannot answer calls yet: so the gateway knows which server it waits
 * for.
 */
export function announceStart(nats: Nats, name: string): { stop(): void } {
  const type = 'io.nats.micro.v1.info_response'
  const subscription = nats.connection.subscribe(`$SRV.INFO.${name}`, {
    callback(error, message) {
      if (error || !message.reply) return
      const metadata = { ...metadataOf(nats), starting: 'true', waiting: String(nats.waits) }
      const { instance: id } = metadata
      message.respond(JSON.stringify({ type, name, id, version: roster.version, metadata, endpoints: [] }))
    },
  })
  return { stop: () => subscription.unsubscribe() }
}

function metadataOf({ connection }: Nats) {
  const instance = instances.get(connection) ?? randomUUID()
  instances.set(connection, instance)
  return { host: hostname(), instance, version: roster.version, former: roster.former }
}
