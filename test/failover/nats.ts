import { join } from 'node:path'
import { connect, type StreamInfo } from 'nats'
import { streamName } from '#lib/events/stream'
import { natsServers } from '#lib/nats/connect-nats'
import type { Daemon } from '../../deploy/local/daemon.ts'
import { type Home, projectRoot } from '../../deploy/local/home.ts'
import { natsUsers, passwordVariable } from '../../deploy/local/servers/nats-users.ts'
import { onPath } from '../../deploy/local/servers/program.ts'
import type { Machine } from './network.ts'
import { answersOk, until } from './until.ts'

/** Three servers of NATS with deploy/nats/cluster.conf. */
export interface NatsServers {
  /** NATS_URL without a user, and the passwords, as nats.conf reads them. */
  env: Record<string, string>
  machines: Machine[]
  /** The server that leads the stream. */
  leader(): Promise<Machine>
  server(machine: Machine): Daemon
  /** Waits until each server has the whole stream. */
  whole(): Promise<void>
}

export async function startNatsServers(home: Home, machines: Machine[]): Promise<NatsServers> {
  const password = home.secret('nats-cluster')
  const routes = machines.map(({ address }) => `"nats-route://cluster:${password}@${address}:6222"`)
  const passwords = Object.fromEntries(natsUsers.map((user) => [passwordVariable(user), home.secret(`nats-${user}`)]))
  const config = join(projectRoot, 'deploy/nats/cluster.conf')
  const daemons = machines.map((machine) =>
    machine.daemon(home, {
      name: machine.name,
      command: onPath('nats-server')!,
      args: ['-c', config, '-a', machine.address, '-m', '8222', '-sd', join(home.dir, machine.name)],
      env: {
        ...passwords,
        ROSTER_NATS_SERVER_NAME: machine.name,
        ROSTER_NATS_PASSWORD_CLUSTER: password,
        ROSTER_NATS_CLUSTER_LISTEN: `${machine.address}:6222`,
        ROSTER_NATS_ROUTES: `[${routes.join(', ')}]`,
      },
      stopSignal: 'SIGTERM',
      // Also whether it has caught up with the others.
      ready: () => answersOk(`http://${machine.address}:8222/healthz`),
    }),
  )
  await Promise.all(daemons.map((daemon) => daemon.start()))
  const url = `nats://${machines.map(({ address }) => `${address}:4222`).join(',')}`
  const info = () => streamInfo(url.replace('//', `//admin:${home.secret('nats-admin')}@`))
  return {
    env: { ...passwords, NATS_URL: url },
    machines,
    async leader() {
      const { cluster } = await info()
      return machines.find(({ name }) => name === cluster?.leader)!
    },
    server: (machine) => daemons[machines.indexOf(machine)]!,
    whole: () =>
      until('NATS has the stream three times', async () => {
        const { replicas = [] } = (await info()).cluster ?? {}
        return replicas.length === machines.length - 1 && replicas.every(({ current, offline }) => current && !offline)
      }),
  }
}

async function streamInfo(url: string): Promise<StreamInfo> {
  const connection = await connect({ ...natsServers(url), timeout: 2000 })
  try {
    return await (await connection.jetstreamManager({ checkAPI: false })).streams.info(streamName)
  } finally {
    await connection.close()
  }
}
