import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, NatsError, RequestStrategy } from 'nats'
import { type Daemon, daemon } from '../../deploy/local/daemon.ts'
import { projectRoot } from '../../deploy/local/home.ts'
import { freePort } from '../../deploy/local/ports.ts'
import { serviceEnvironment, type ServiceName, serviceNames } from '../../deploy/local/service-environment.ts'
import { startServers, type Servers, type ServersOptions } from '../../deploy/local/servers.ts'
import { nodeFlags } from '../../deploy/local/services.ts'
import { deriveKeys } from '../../deploy/derive-keys.ts'
import { provision } from '../../deploy/provision.ts'
import { startCable } from '../support/cable.ts'
import { deadlineMs } from '../faults/running.ts'

export type Which = 'former' | 'today'

/** A Roster whose services can be replaced by those of another release, one by one. */
export interface Fleet {
  servers: Servers
  /** An address that leads to whichever gateway is there. */
  url: string
  adminToken: string
  /** The settings of the operator's command. */
  operatorSettings: Record<string, string>
  /** Starts a service of one release beside the other one. Resolves when both answer. */
  add(name: ServiceName, which: Which): Promise<void>
  /** Ends a service of one release as an operator does. Rejects where it does not end well. */
  remove(name: ServiceName, which: Which): Promise<void>
  stop(): Promise<void>
}

const startedWithin = 120_000

/**
 * Starts all services of the former release, over new servers with the settings of today. `logIn` gives the URL by which
 * the services of today log in, in place of another one.
 */
export async function startFleet(
  formerFolder: string,
  { logIn = (url: string) => url, ...options }: ServersOptions & { logIn?: (url: string) => string } = {},
): Promise<Fleet> {
  const folders = { former: formerFolder, today: projectRoot }
  const servers = await startServers({ ephemeral: true, ports: 'random', env: {}, say: () => {}, ...options })
  const passwords = {
    users: 'users-password',
    grants: 'grants-password',
    idp: 'idp-password',
    notifier: 'n-password',
    operator: 'o-password',
  }
  const databaseUrls = await provision(servers.databaseUrl, passwords)
  const adminTokenFile = join(servers.home.dir, 'admin-token')
  const encryptionKey = randomBytes(32).toString('base64')
  const ports = { former: await freePort(0), today: await freePort(0) }
  let front: Which = 'former'
  const cable = await startCable(() => ports[front])
  const url = `http://127.0.0.1:${cable.port}`
  const { host, username, password } = new URL(servers.natsUrl.admin)
  const admin = await connect({ servers: host, user: username, pass: password, inboxPrefix: '_INBOX_admin' })

  const handles = new Map<string, Daemon>()
  const handle = (name: ServiceName, which: Which) => {
    const known = handles.get(`${name}-${which}`)
    if (known) return known
    const environment = serviceEnvironment(name, servers, {
      databaseUrls,
      port: ports[which],
      publicUrl: url,
      adminTokenFile,
      encryptionKey,
      env: {
        PATH: process.env['PATH'],
        SWEEP_INTERVAL: '3',
        MAILS_PER_ORGANIZATION_AN_HOUR: '100000',
        CALL_TIMEOUT_MS: String(deadlineMs),
        MAX_CALL_TIMEOUT_MS: String(deadlineMs),
        WEBHOOK_ALLOW_PRIVATE: '127.0.0.1',
      },
    })
    const urls = Object.entries(environment).filter(([key]) => /^(DATABASE|NATS|NATS_KEEPER)_URL$/.test(key))
    const env = {
      ...environment,
      ...(which === 'today' && Object.fromEntries(urls.map(([key, value]) => [key, logIn(value!)]))),
    }
    const args = [...nodeFlags, join(folders[which], 'services', name, 'main.ts')]
    const spec = { kind: 'service', command: process.execPath, args, env, stopSignal: 'SIGTERM' } as const
    const made = daemon(servers.home, { ...spec, name: `${name}-${which}`, ready: async () => true })
    handles.set(`${name}-${which}`, made)
    return made
  }

  async function replicas(name: ServiceName): Promise<number> {
    const options = { strategy: RequestStrategy.Timer, maxWait: 200 }
    let count = 0
    try {
      for await (const { headers } of await admin.requestMany(`$SRV.PING.${name}`, '', options))
        if (headers?.code !== 503) count++
    } catch (error) {
      // So do newer servers say that nobody is there.
      if (!(error instanceof NatsError && error.code === '503')) throw error
    }
    return count
  }

  async function gatewayIsReady(which: Which): Promise<boolean> {
    const answer = await fetch(`http://127.0.0.1:${ports[which]}/readyz`).catch(() => undefined)
    return answer !== undefined && ((await answer.json()) as { missing?: string[] }).missing === undefined
  }

  async function add(name: ServiceName, which: Which) {
    const before = name === 'gateway' ? 0 : await replicas(name)
    const started = handle(name, which)
    await started.start()
    const isUp = async () => (name === 'gateway' ? gatewayIsReady(which) : (await replicas(name)) > before)
    for (const end = Date.now() + startedWithin; !(await isUp()); await sleep(50))
      if (Date.now() > end || started.pid === undefined)
        throw new Error(`${started.name} does not answer\n${readFileSync(started.logFile, 'utf8').slice(-3000)}`)
    if (name === 'gateway') front = which
  }

  const stop = async () => {
    await Promise.all([...handles.values()].map((each) => each.stop()))
    await admin.close()
    await cable.stop()
    await servers.stop()
  }
  try {
    await Promise.all(serviceNames.map((name) => add(name, 'former')))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    servers,
    url,
    adminToken: readFileSync(adminTokenFile, 'utf8').trim(),
    operatorSettings: {
      ROSTER_OPERATOR_DATABASE_URL: databaseUrls.operator!,
      ROSTER_OPERATOR_NATS_URL: servers.natsUrl.operator,
      ROSTER_OPERATOR_REDIS_URL: servers.redisUrl,
      ...deriveKeys(encryptionKey).operator,
    },
    add,
    async remove(name, which) {
      const { logFile, ...ending } = handle(name, which)
      const from = readFileSync(logFile, 'utf8').length
      if (ending.pid === undefined) throw new Error(`${ending.name} ended by itself`)
      await ending.stop()
      const fatal = readFileSync(logFile, 'utf8')
        .slice(from)
        .split('\n')
        .find((line) => line.includes('"level":60'))
      if (fatal) throw new Error(`${ending.name} did not end well: ${fatal}`)
    },
    stop,
  }
}
