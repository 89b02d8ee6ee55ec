import { Redis } from 'ioredis'
import { connect, type JetStreamManager, type NatsConnection } from 'nats'
import type { Sql } from '#lib/eventstore/database'
import type { OperatorUrls } from '../local/operator-urls.ts'
import type { Personal } from '#lib/eventstore/personal/personal'
import type { StoringService } from '../provision.ts'
import { models } from './models.ts'
import { openPersonal } from './open-personal.ts'
import { openSchema, type Session } from './open-schema.ts'
import { Refusal } from './refusal.ts'

/** The running system, as the command reaches it. Each part connects when it is asked for first. */
export interface System {
  /** A connection to the schema of a service. */
  sql(service: StoringService): Sql
  /** The same, once its session has begun. Rejects with the reason where it cannot. */
  begun(service: StoringService): Promise<Sql>
  /** Opens what a service stores of people. Throws a Refusal where it is sealed and the command has no key. */
  personal(service: StoringService): Promise<Personal | undefined>
  nats(): Promise<NatsConnection>
  jetstream(): Promise<JetStreamManager>
  /** Undefined where no Redis is named. */
  redis(): Redis | undefined
  close(): Promise<void>
}

const patience = 5000

/**
 * Opens the system. Nothing waits for a server that is away. Without `mayWrite`, PostgreSQL takes no changes from it, but
 * for temporary tables.
 */
export function openSystem({ databaseUrl, natsUrl, redisUrl, personalKey }: OperatorUrls, mayWrite = false): System {
  const schemas = new Map<StoringService, Session>()
  const opened: Sql[] = []
  let nats: Promise<NatsConnection> | undefined
  let redis: Redis | undefined
  const connected = () => (nats ??= openNats(natsUrl))
  const sessionOf = (service: StoringService) => {
    const known = schemas.get(service)
    if (known) return known
    const session = openSchema(databaseUrl, service, { patience, mayWrite })
    // What could not begin may be tried again.
    session.begun.catch(() => schemas.delete(service))
    schemas.set(service, session)
    opened.push(session.sql)
    return session
  }
  const sqlOf = (service: StoringService) => sessionOf(service).sql
  return {
    sql: sqlOf,
    async begun(service) {
      const { sql, begun } = sessionOf(service)
      await begun
      return sql
    },
    personal: (service) => openPersonal(sqlOf(service), models[service].personal, personalKey),
    nats: connected,
    jetstream: async () => (await connected()).jetstreamManager({ apiPrefix: 'ROSTER.API', checkAPI: false }),
    redis() {
      if (redisUrl === undefined) return undefined
      const options = { maxRetriesPerRequest: 0, connectTimeout: patience, retryStrategy: () => null }
      return (redis ??= new Redis(redisUrl, options).on('error', () => {}))
    },
    async close() {
      redis?.disconnect()
      // The driver may hang where it ends a connection that is not open yet. So first what was asked is answered.
      let timer: NodeJS.Timeout | undefined
      const enough = new Promise((resolve) => (timer = setTimeout(resolve, patience)))
      await Promise.race([Promise.all(opened.map((sql) => sql`select`.catch(() => {}))), enough])
      clearTimeout(timer)
      await Promise.all(opened.map((sql) => sql.end({ timeout: 1 })))
      await (await nats?.catch(() => undefined))?.close()
    },
  }
}

async function openNats(url: string): Promise<NatsConnection> {
  const { protocol, host, username, password } = new URL(url)
  try {
    return await connect({
      servers: host,
      name: 'roster-operator',
      inboxPrefix: '_INBOX_operator',
      reconnect: false,
      timeout: patience,
      ...(protocol === 'tls:' && { tls: {} }),
      ...(username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
    })
  } catch (error) {
    throw new Refusal(`NATS at ${host} does not let the command in: ${(error as Error).message}`)
  }
}
