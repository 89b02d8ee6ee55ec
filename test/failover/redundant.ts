import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundledEntry } from '../../deploy/local/bundles.ts'
import { openHome } from '../../deploy/local/home.ts'
import { freePort } from '../../deploy/local/ports.ts'
import { type Servers, startServers } from '../../deploy/local/servers.ts'
import { type Services, startServices } from '../../deploy/local/services.ts'
import { startWatchdog } from '../../deploy/local/watchdog.ts'
import { provision } from '../../deploy/provision.ts'
import { type Called, databasePasswords, serviceSettings, supervision } from '../faults/running.ts'
import { type Machine, makeNetwork } from './network.ts'
import { type NatsServers, startNatsServers } from './nats.ts'
import { startPoolers } from './pooler.ts'
import { type PostgresCluster, startPostgresCluster } from './postgres.ts'
import { type RedisServers, startRedisServers } from './redis.ts'
import { answersOk, until } from './until.ts'

/** A Roster with two processes of each service, over servers of which each kind may lose one. */
export interface Redundant extends Called {
  /** Of both gateways. */
  urls: string[]
  /** The first process of each service. The supervisor starts it again. */
  services: Services
  servers: Servers
  postgres: PostgresCluster
  nats: NatsServers
  redis: RedisServers
  /** Starts again what was killed on a machine of PostgreSQL. */
  revive(machine: Machine): Promise<void>
  /** Waits until nothing is missing anywhere. */
  whole(): Promise<void>
  stop(): Promise<void>
}

export async function startRedundant(): Promise<Redundant> {
  const folder = mkdtempSync(join(tmpdir(), 'roster-failover-'))
  chmodSync(folder, 0o711)
  const home = openHome(folder)
  const { machines, ...network } = makeNetwork()
  const watchdog = startWatchdog(home.run, folder)
  const begun: { stop(): void | Promise<void> }[] = [{ stop: () => watchdog.dismiss() }, network]
  const stop = async () => {
    for (const part of begun.splice(0).toReversed()) await part.stop()
  }
  try {
    const [postgres, nats, redis] = await Promise.all([
      startPostgresCluster(home, machines('db'), machines('etcd')),
      startNatsServers(home, machines('nats')),
      startRedisServers(home, machines('redis')),
    ])
    await postgres.whole()
    const databaseUrls = await provision(postgres.url, databasePasswords)
    const poolers = await startPoolers(home, machines('db'), databaseUrls.idp)
    databaseUrls.idp = poolers.url
    const encryptionKey = randomBytes(32).toString('base64')
    const adminTokenFile = join(home.dir, 'admin-token')
    const env = { ...nats.env, DATABASE_URL: postgres.url, REDIS_URL: redis.url }
    const entry = await bundledEntry(console.log)
    const start = async (more: Record<string, string>) => {
      const options = { ephemeral: true, ports: 'random', say: () => {} } as const
      const servers = await startServers({ ...options, env: { ...env, ...more } })
      begun.push(servers)
      const services = await startServices(servers, {
        databaseUrls,
        port: await freePort(0),
        adminTokenFile,
        encryptionKey,
        entry,
        env: { ...serviceSettings, NATS_STREAM_REPLICAS: '3' },
        ...supervision,
      })
      begun.push(services)
      return { servers, services }
    }
    const first = await start({})
    const second = await start({ SMTP_URL: first.servers.smtpUrl })
    const urls = [first, second].map(({ services }) => services.url)
    return {
      url: urls[0]!,
      urls,
      adminToken: readFileSync(adminTokenFile, 'utf8').trim(),
      ...first,
      postgres,
      nats,
      redis,
      async revive(machine) {
        await Promise.all([postgres, poolers].map((programs) => programs.revive(machine)))
      },
      async whole() {
        await Promise.all([postgres, nats, redis].map((servers) => servers.whole()))
        for (const url of urls) await until(`${url} is ready`, () => answersOk(`${url}/readyz`))
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
