import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { connect, type JetStreamManager, type NatsConnection } from 'nats'
import type { Sql } from '#lib/database/database'
import { createPersonal, type Personal, type PersonalData, type EncryptionRow } from '#lib/encryption/personal'
import { encryptionKey } from '#lib/encryption/keys'
import type { OperatorUrls } from '../deploy/local/operator-urls.ts'
import type { StoringService } from '../deploy/provision.ts'
import { natsServers } from '#lib/nats/connect-nats'
import { readServerUrls } from '#lib/config/server-urls'
import { redisOptions } from '../services/notifier/redis.ts'
import { models } from './models.ts'
import { openSchema, patience } from './open-schema.ts'
import { Refusal } from './refusal.ts'

/** The running system, as the command reaches it. Each part connects when it is asked for first. */
export interface System {
  /** The schema of a service, by the role that reads this service alone. */
  sql(service: StoringService): Sql
  /** Opens what a service stores of people. Throws a Refusal where it is encrypted and the command has no key. */
  personal(service: StoringService): Promise<Personal | undefined>
  nats(): Promise<NatsConnection>
  jetstream(): Promise<JetStreamManager>
  /** Undefined where no Redis is named. */
  redis(): Redis | undefined
  close(): Promise<void>
}

/**
 * Opens the system. Nothing waits for a server that is away. Without `mayWrite`, PostgreSQL takes no changes from it.
 */
export function openSystem({ databaseUrl, natsUrl, redisUrl, personalKey }: OperatorUrls, mayWrite = false): System {
  const schemas = new Map<StoringService, Sql>()
  let nats: Promise<NatsConnection> | undefined
  let redis: Redis | undefined
  const connected = () => (nats ??= openNats(natsUrl))
  const sqlOf = (service: StoringService) => {
    const sql = schemas.get(service) ?? openSchema(databaseUrl, service, mayWrite ? {} : readOnly)
    schemas.set(service, sql)
    return sql
  }
  return {
    sql: sqlOf,
    personal: (service) => openPersonal(sqlOf(service), models[service].personal, personalKey),
    nats: connected,
    jetstream: async () => (await connected()).jetstreamManager({ apiPrefix: 'ROSTER.API', checkAPI: false }),
    redis() {
      if (redisUrl === undefined) return undefined
      const never = () => null
      const own = {
        maxRetriesPerRequest: 0,
        connectTimeout: patience,
        retryStrategy: never,
        sentinelRetryStrategy: never,
      }
      const options = Object.assign(redisOptions(redisUrl), own)
      return (redis ??= new Redis(options).on('error', () => {}))
    },
    async close() {
      redis?.disconnect()
      await Promise.all([...schemas.values()].map((sql) => sql.end({ timeout: 1 })))
      await (await nats?.catch(() => undefined))?.close()
    },
  }
}

const readOnly = { default_transaction_read_only: 'on' }

/** The error of what needs NATS, where no setting names it. */
export function noNats(): Refusal {
  return new Refusal('This needs NATS, and ROSTER_OPERATOR_NATS_URL is not set (docs/command.md).')
}

async function openNats(url: string | undefined): Promise<NatsConnection> {
  if (url === undefined) throw noNats()
  const { hosts } = readServerUrls(url)!
  try {
    return await connect({
      ...natsServers(url),
      name: 'roster-operator',
      inboxPrefix: '_INBOX_operator',
      reconnect: false,
      timeout: patience,
    })
  } catch (error) {
    throw new Refusal(`NATS at ${hosts.join(', ')} does not let the command in: ${(error as Error).message}`)
  }
}

// Undefined for a service that stores nothing of people encrypted.
async function openPersonal(
  sql: Sql,
  data: PersonalData | undefined,
  key: string | undefined,
): Promise<Personal | undefined> {
  const [row] = data ? await sql<EncryptionRow[]>`select secret from sealing` : []
  if (!data || !row) return undefined
  if (key === undefined)
    throw new Refusal(
      'Personal fields are encrypted, and the command has no key: set ROSTER_OPERATOR_PERSONAL_KEY (docs/command.md).',
    )
  // A key of its own, which nothing was ever encrypted with, stands in for the service's.
  const keys = encryptionKey.read([randomBytes(32).toString('base64'), key].join(','))
  return createPersonal(data, keys, row)
}
