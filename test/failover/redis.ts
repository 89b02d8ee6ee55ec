import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import type { Daemon } from '../../deploy/local/daemon.ts'
import type { Home } from '../../deploy/local/home.ts'
import { onPath } from '../../deploy/local/servers/program.ts'
import type { Machine } from './network.ts'
import { until } from './until.ts'

/** Redis with a replica, and a Sentinel on three machines. */
export interface RedisServers {
  url: string
  master(): Promise<Machine>
  server(machine: Machine): Daemon
  /** Waits until the master has its replica. */
  whole(): Promise<void>
}

const master = 'roster'

export async function startRedisServers(home: Home, machines: Machine[]): Promise<RedisServers> {
  const password = home.secret('redis')
  const common = ['protected-mode no', `requirepass ${password}`, `masterauth ${password}`]
  const start = async (machine: Machine, kind: 'redis' | 'sentinel', port: number, lines: string[]) => {
    const name = `${kind}-${machine.name}`
    const folder = join(home.dir, name)
    mkdirSync(folder)
    // Both write into their files who the master is.
    writeFileSync(join(folder, 'conf'), [`port ${port}`, `dir ${folder}`, ...lines, ''].join('\n'))
    const ready = () => ping(machine.address, port, password)
    const args = [join(folder, 'conf'), ...(kind === 'sentinel' ? ['--sentinel'] : [])]
    const daemon = machine.daemon(home, { name, command: onPath('redis-server')!, args, stopSignal: 'SIGTERM', ready })
    await daemon.start()
    return daemon
  }
  const [first] = machines
  const servers: Daemon[] = []
  for (const machine of machines.slice(0, 2)) {
    const role = machine === first ? [] : [`replicaof ${first!.address} 6379`]
    servers.push(
      await start(machine, 'redis', 6379, [...common, 'appendonly yes', 'maxmemory-policy noeviction', ...role]),
    )
  }
  for (const machine of machines)
    await start(machine, 'sentinel', 26_379, [
      `requirepass ${password}`,
      `sentinel sentinel-pass ${password}`,
      `sentinel monitor ${master} ${first!.address} 6379 2`,
      `sentinel auth-pass ${master} ${password}`,
      `sentinel down-after-milliseconds ${master} 5000`,
      `sentinel failover-timeout ${master} 30000`,
    ])
  const masterNow = async () => {
    for (const { address } of machines) {
      const found = await ask(address, 26_379, password, (redis) =>
        redis.call('sentinel', 'get-master-addr-by-name', master),
      )
      if (found) return machines.find((machine) => machine.address === (found as string[])[0])!
    }
    throw new Error('no Sentinel answers')
  }
  return {
    url: `redis+sentinel://:${password}@${machines.map(({ address }) => `${address}:26379`).join(',')}/${master}?sentinel_password=${password}`,
    master: masterNow,
    server: (machine) => servers[machines.indexOf(machine)]!,
    whole: () =>
      until('the master of Redis has its replica', async () => {
        const { address } = await masterNow()
        return Boolean(
          (await ask(address, 6379, password, (redis) => redis.info('replication')))?.includes('state=online'),
        )
      }),
  }
}

const ping = async (host: string, port: number, password: string) =>
  (await ask(host, port, password, (redis) => redis.ping())) === 'PONG'

// Undefined where it does not answer.
async function ask<T>(host: string, port: number, password: string, question: (redis: Redis) => Promise<T>) {
  const options = { host, port, password, connectTimeout: 2000, commandTimeout: 2000, retryStrategy: () => null }
  const redis = new Redis({ ...options, lazyConnect: true, maxRetriesPerRequest: 0 }).on('error', () => {})
  try {
    await redis.connect()
    return await question(redis)
  } catch {
    return undefined
  } finally {
    redis.disconnect()
  }
}
