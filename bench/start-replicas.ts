import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { connect } from 'nats'
import { daemon } from '../deploy/local/daemon.ts'
import { projectRoot } from '../deploy/local/home.ts'
import { freePort } from '../deploy/local/ports.ts'
import { serviceEnvironment, type ServicesOptions } from '../deploy/local/service-environment.ts'
import type { Servers } from '../deploy/local/servers.ts'
import { nodeFlags } from '../deploy/local/services.ts'

export interface Replicas {
  /** Of the additional gateways. */
  urls: string[]
  processes: { name: 'users' | 'gateway'; pid: number }[]
  stop(): Promise<void>
}

/** Starts so many more processes of users, and as many gateways, each on a port of its own. */
export async function startReplicas(servers: Servers, options: ServicesOptions, count: number): Promise<Replicas> {
  const { entry = (name) => join(projectRoot, 'services', name, 'main.ts') } = options
  const start = async (name: 'users' | 'gateway', number: number) => {
    const port = await freePort(0)
    const url = `http://127.0.0.1:${port}`
    const process_ = daemon(servers.home, {
      name: `${name}-${number}`,
      kind: 'service',
      command: process.execPath,
      args: [...nodeFlags, entry(name)],
      env: serviceEnvironment(name, servers, { ...options, port }),
      stopSignal: 'SIGTERM',
      ready: async () => name === 'users' || (await fetch(`${url}/readyz`)).ok,
    })
    await process_.start()
    return { name, url, process_ }
  }
  const numbers = Array.from({ length: count }, (_, index) => index + 2)
  const started = await Promise.all(numbers.flatMap((number) => [start('users', number), start('gateway', number)]))
  if (count > 0) await untilAnswering(servers, count + 1)
  return {
    urls: started.filter(({ name }) => name === 'gateway').map(({ url }) => url),
    processes: started.map(({ name, process_ }) => ({ name, pid: process_.pid! })),
    stop: async () => void (await Promise.all(started.map(({ process_ }) => process_.stop()))),
  }
}

// A process of users has no port. As a NATS micro service, it answers pings.
async function untilAnswering({ natsUrl }: Servers, count: number): Promise<void> {
  const { host, username, password } = new URL(natsUrl.admin)
  const nats = await connect({ servers: host, user: username, pass: password })
  for (let found = 0; found < count; await sleep(100)) {
    found = 0
    for await (const _ of await nats.services.client().ping('users')) found++
  }
  await nats.close()
}
