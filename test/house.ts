import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog, type Log } from '#lib/log'
import { connectNats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { deriveKeys } from '../deploy/derive-keys.ts'
import type { StoringService } from '../deploy/provision.ts'
import { readGatewayConfig } from '../services/gateway/config.ts'
import { startGateway } from '../services/gateway/server.ts'
import { readGrantsConfig } from '../services/grants/config.ts'
import { startGrants } from '../services/grants/service.ts'
import { readIdpConfig } from '../services/idp/config.ts'
import { startIdp } from '../services/idp/service.ts'
import { readNotifierConfig } from '../services/notifier/config.ts'
import { startNotifier } from '../services/notifier/service.ts'
import { readUsersConfig } from '../services/users/config.ts'
import { startUsers } from '../services/users/service.ts'
import type { TestServers } from './infra.ts'
import { testServers } from './support/servers.ts'

/** A whole Roster. */
export interface House {
  /** The first gateway, for example `http://127.0.0.1:40123`. */
  url: string
  /** Every gateway. */
  urls: string[]
  /** The bearer token of the machine administrator. */
  adminToken: string
  /** The password of the human administrator, `admin`. */
  adminPassword: string
  /** Stops every replica of a service, runs `meanwhile`, then starts as many again. A gateway may get another port. */
  restart(name: Name, meanwhile?: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

export interface HouseOptions {
  /** Default: the servers of the run. */
  servers?: TestServers
  log?: Log
  /** Replicas of each service except the notifier. The second gateway takes any free port. */
  replicas?: number
  /** Settings of further gateways, one for each: with TLS, behind a proxy. */
  moreGateways?: Record<string, string>[]
  /** Leaves grants out, so that the test can run it. */
  withoutGrants?: boolean
  /** Default: `houseKeys`. */
  keys?: typeof houseKeys
  /** The token of the machine administrator, where the database has one: it is written at the first start alone. */
  adminToken?: string
}

export type Name = StoringService | 'gateway'

/** The keys of each service, with one root for the run. Houses over one database must use the same root. */
export const houseKeys = deriveKeys(randomBytes(32).toString('base64'))

/**
 * Starts the five services in this process over the run's real servers, with the databases of the URLs. `settings` are
 * added to the environment of each service.
 * Only one house may use a NATS server at a time. Otherwise the houses answer each other's requests.
 */
export async function startHouse(
  databaseUrls: Record<StoringService, string>,
  settings: Record<string, string> = {},
  {
    servers = testServers(),
    log = silentLog(),
    replicas = 1,
    moreGateways = [],
    withoutGrants = false,
    keys = houseKeys,
    adminToken,
  }: HouseOptions = {},
): Promise<House> {
  const folder = await mkdtemp(join(tmpdir(), 'roster-house-'))
  const adminTokenFile = join(folder, 'admin-token')
  const adminPassword = randomBytes(12).toString('hex')
  const running: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true })]
  const restartable: { name: Name; stop(): Promise<unknown>; start(): Promise<unknown> }[] = []
  const each = Array.from({ length: replicas })

  const environment = (name: Name, own: Record<string, string> = {}) => ({
    NATS_URL: servers.natsUrl[name],
    PUBLIC_URL: 'http://localhost:8080',
    ...keys[name],
    ROSTER_ADMIN_TOKEN_FILE: adminTokenFile,
    ROSTER_ADMIN_PASSWORD: adminPassword,
    REDIS_URL: servers.redisUrl,
    SMTP_URL: servers.smtpUrl,
    PORT: '0',
    ...(name === 'gateway' && { NATS_KEEPER_URL: servers.natsUrl.keeper }),
    ...(name !== 'gateway' && { DATABASE_URL: databaseUrls[name] }),
    ...settings,
    ...own,
  })
  async function start<S extends Service>(
    name: Name,
    begin: (nats: Awaited<ReturnType<typeof connectNats>>) => Promise<S>,
  ) {
    const launch = async () => {
      const nats = await connectNats(servers.natsUrl[name], name, log)
      const service = await inTime(begin(nats), () => `${name} did not start: ${String(nats.waits)}`)
      const stop = async () => {
        await service.stop()
        await nats.connection.close()
      }
      return { service, stop }
    }
    const launched = await launch()
    let { stop } = launched
    running.push(() => stop())
    restartable.push({ name, stop: () => stop(), start: async () => ({ stop } = await launch()) })
    return launched.service
  }
  const all = <S>(begin: (_: unknown, index: number) => Promise<S>) => Promise.all(each.map(begin))

  await Promise.all([
    all(() => start('users', (nats) => startUsers({ config: readUsersConfig(environment('users')), nats, log }))),
    !withoutGrants &&
      all(() => start('grants', (nats) => startGrants({ config: readGrantsConfig(environment('grants')), nats, log }))),
    all(() => start('idp', (nats) => startIdp({ config: readIdpConfig(environment('idp')), nats, log }))),
  ])
  await start('notifier', (nats) => startNotifier({ config: readNotifierConfig(environment('notifier')), nats, log }))
  const startOne = (own: Record<string, string>) => {
    const config = readGatewayConfig(environment('gateway', own))
    return start('gateway', (nats) => startGateway({ config, nats, log }))
  }
  const gateways = await all((_, index) => startOne(index > 0 ? { PORT: '0' } : {}))
  const urls = gateways.map(({ port }) => `http://127.0.0.1:${port}`)
  if (!withoutGrants) await Promise.all(urls.map(isReady))
  for (const own of moreGateways) await startOne(own)
  return {
    url: urls[0]!,
    urls,
    adminToken: adminToken ?? (await readFile(adminTokenFile, 'utf8')).trim(),
    adminPassword,
    async restart(name, meanwhile) {
      const all = restartable.filter((replica) => replica.name === name)
      await Promise.all(all.map((replica) => replica.stop()))
      await meanwhile?.()
      await Promise.all(all.map((replica) => replica.start()))
    },
    // Stop the gateways first, because they call the other services.
    async stop() {
      for (const stop of running.toReversed()) await stop()
    },
  }
}

/** A hook that is out of time would not say why. */
const patience = 100_000

async function inTime<T>(work: Promise<T>, reason: () => string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(reason())), patience)
  return Promise.race([work, promise]).finally(() => clearTimeout(timer))
}

// The notifier starts without waiting for any server, so wait here for the notifier.
async function isReady(url: string): Promise<void> {
  const until = Date.now() + patience
  for (;;) {
    const text = await (await fetch(`${url}/readyz`)).text()
    if (text.startsWith('{"status":"ok"')) return
    if (Date.now() > until) throw new Error(`the house is not ready: ${text}`)
    await sleep(20)
  }
}

function silentLog(): Log {
  return createLog('house', process.env['ROSTER_TEST_LOG'] ?? 'silent')
}
