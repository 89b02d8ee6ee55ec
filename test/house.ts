import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { createLog } from '#lib/log'
import { connectNats } from '#lib/nats'
import { readGatewayConfig } from '../services/gateway/config.ts'
import { startGateway } from '../services/gateway/server.ts'
import { readGrantsConfig } from '../services/grants/config.ts'
import { startGrants } from '../services/grants/service.ts'
import { readIdpConfig } from '../services/idp/config.ts'
import { startIdp } from '../services/idp/service.ts'
import { readUsersConfig } from '../services/users/config.ts'
import { startUsers } from '../services/users/service.ts'

/** A whole Roster. */
export interface House {
  /** Such as `http://127.0.0.1:40123`. */
  url: string
  /** The bearer token of the machine administrator. */
  adminToken: string
  /** The password of the human administrator, `admin`. */
  adminPassword: string
  stop(): Promise<void>
}

/**
 * Boots the services in this process over the run's real servers, in the database that the URLs name. `settings` are added to
 * the environment of each service.
 */
export async function startHouse(
  databaseUrls: Record<'users' | 'grants' | 'idp', string>,
  settings: Record<string, string> = {},
): Promise<House> {
  const { natsUrl } = inject('servers')
  const folder = await mkdtemp(join(tmpdir(), 'roster-house-'))
  const adminTokenFile = join(folder, 'admin-token')
  const adminPassword = randomBytes(12).toString('hex')
  const log = createLog('house', process.env['ROSTER_TEST_LOG'] ?? 'silent')
  const stops: (() => Promise<unknown>)[] = []
  const environment = (service: 'users' | 'grants' | 'idp' | 'gateway') => ({
    NATS_URL: natsUrl[service],
    PUBLIC_URL: 'http://localhost:8080',
    ROSTER_ENCRYPTION_KEY: encryptionKey,
    ROSTER_ADMIN_TOKEN_FILE: adminTokenFile,
    ROSTER_ADMIN_PASSWORD: adminPassword,
    PORT: '0',
    ...(service !== 'gateway' && { DATABASE_URL: databaseUrls[service] }),
    ...settings,
  })
  const nats = async (service: 'users' | 'grants' | 'idp' | 'gateway') => {
    const own = await connectNats(natsUrl[service], service, log)
    stops.push(() => own.connection.close())
    return own
  }
  const started = await Promise.all([
    startUsers({ config: readUsersConfig(environment('users')), nats: await nats('users'), log }),
    startGrants({ config: readGrantsConfig(environment('grants')), nats: await nats('grants'), log }),
    startIdp({ config: readIdpConfig(environment('idp')), nats: await nats('idp'), log }),
  ])
  const config = readGatewayConfig(environment('gateway'))
  const gateway = await startGateway({ config, nats: await nats('gateway'), log })
  return {
    url: `http://127.0.0.1:${gateway.port}`,
    adminToken: (await readFile(adminTokenFile, 'utf8')).trim(),
    adminPassword,
    async stop() {
      await gateway.stop()
      await Promise.all(started.map((service) => service.stop()))
      await Promise.all(stops.map((stop) => stop()))
      await rm(folder, { recursive: true })
    },
  }
}

// One for the run: houses over one database must agree on it.
const encryptionKey = randomBytes(32).toString('base64')
