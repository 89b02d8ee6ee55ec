import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Daemon } from '../../deploy/local/daemon.ts'
import { openHome, projectRoot } from '../../deploy/local/home.ts'
import { freePort } from '../../deploy/local/ports.ts'
import { startNats } from '../../deploy/local/servers/nats-server.ts'
import { type NatsUser, natsUsers, passwordVariable } from '../../deploy/local/servers/nats-users.ts'

export interface NatsCluster {
  /** One URL per user, with all servers. */
  natsUrl: Record<NatsUser, string>
  servers: Daemon[]
  /** Of each server, for clients. */
  ports: number[]
  stop(): Promise<void>
}

/** Starts servers with deploy/nats/cluster.conf, as an operator would. */
export async function startNatsCluster(size = 3): Promise<NatsCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'roster-cluster-'))
  const password = `p${randomBytes(8).toString('hex')}`
  const numbers = Array.from({ length: size }, (_, n) => n)
  const places: { port: number; clusterPort: number }[] = []
  for (const _ of numbers) places.push({ port: await freePort(0), clusterPort: await freePort(0) })
  const routes = places.map(({ clusterPort }) => `"nats-route://cluster:${password}@127.0.0.1:${clusterPort}"`)
  const secrets = Object.fromEntries(natsUsers.map((user) => [user, `p${randomBytes(8).toString('hex')}`]))
  const passwords = Object.fromEntries(natsUsers.map((user) => [passwordVariable(user), secrets[user]!]))
  const start = async ({ port, clusterPort }: (typeof places)[number], n: number) => {
    const env = {
      ...passwords,
      ROSTER_NATS_SERVER_NAME: `nats${n}`,
      ROSTER_NATS_PASSWORD_CLUSTER: password,
      ROSTER_NATS_CLUSTER_LISTEN: `127.0.0.1:${clusterPort}`,
      ROSTER_NATS_ROUTES: `[${routes.join(', ')}]`,
    }
    const config = join(projectRoot, 'deploy/nats/cluster.conf')
    const { server } = await startNats(openHome(join(folder, String(n))), { port, say: () => {}, config, env })
    return server
  }
  const servers = await Promise.all(places.map(start))
  const hosts = places.map(({ port }) => `127.0.0.1:${port}`).join(',')
  return {
    natsUrl: Object.fromEntries(natsUsers.map((user) => [user, `nats://${user}:${secrets[user]}@${hosts}`])) as Record<
      NatsUser,
      string
    >,
    servers,
    ports: places.map(({ port }) => port),
    async stop() {
      await Promise.all(servers.map((server) => server.stop()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
