import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundledEntry } from '../deploy/local/bundles.ts'
import { freePort } from '../deploy/local/ports.ts'
import { type Servers, startServers } from '../deploy/local/servers.ts'
import type { ServicesOptions } from '../deploy/local/service-environment.ts'
import { type Services, startServices } from '../deploy/local/services.ts'
import { provision, storingServices, type StoringService } from '../deploy/provision.ts'
import { startReplicas } from './start-replicas.ts'

/** A running Roster with servers of its own. */
export interface System {
  /** One for each gateway. */
  urls: string[]
  token: string
  servers: Servers
  services: Services
  /** Process ids by name. Replicas share a name. */
  pids: Record<string, number[]>
  stop(): Promise<void>
}

export interface SystemOptions {
  /** The checkout whose services run, or a folder of bundles. Default: the bundles of this checkout. */
  root?: string | undefined
  /** Processes of users, and as many of the gateway. Default: 1. */
  replicas?: number
  /** The mail server. Default: the local mailbox. */
  smtpUrl?: string
  /** More settings of the services. */
  settings?: Record<string, string>
}

const running = new Set<() => Promise<void>>()

/** Stops all systems, when the bench is broken off. */
export async function stopSystems(): Promise<void> {
  await Promise.all([...running].map((stop) => stop()))
}

/** Starts the same as `npm start`, just as durable, on free ports and in a folder that `stop` deletes. */
export async function startSystem({ root, replicas = 1, smtpUrl, settings }: SystemOptions = {}): Promise<System> {
  const folder = mkdtempSync(join(tmpdir(), 'roster-bench-'))
  const begun: { stop(): Promise<void> }[] = [{ stop: async () => rmSync(folder, { recursive: true, force: true }) }]
  const stop = async () => {
    running.delete(stop)
    for (const part of begun.splice(0).toReversed()) await part.stop()
  }
  running.add(stop)
  try {
    const servers = await startServers({
      dataDir: folder,
      ports: 'random',
      env: { ...(smtpUrl && { SMTP_URL: smtpUrl }) },
    })
    begun.push(servers)
    const options: ServicesOptions = {
      databaseUrls: await databasesOf(servers),
      port: await freePort(0),
      adminTokenFile: join(servers.home.dir, 'admin-token'),
      encryptionKey: servers.home.key('encryption-key'),
      env: { ...process.env, ...settings },
      backoff: 'off',
      entry: root ? entryIn(root) : await bundledEntry(console.log),
    }
    const services = await startServices(servers, options)
    begun.push(services)
    const more = await startReplicas(servers, options, replicas - 1)
    begun.push(more)
    const token = readFileSync(options.adminTokenFile, 'utf8').trim()
    const pids = pidsOf(servers, services)
    for (const { name, pid } of more.processes) pids[name]!.push(pid)
    return { urls: [services.url, ...more.urls], token, servers, services, pids, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

// Bundles take less time than sources, so compare like with like.
function entryIn(root: string): NonNullable<ServicesOptions['entry']> {
  const areBundles = existsSync(join(root, 'users.mjs'))
  return (name) => join(root, areBundles ? `${name}.mjs` : `services/${name}/main.ts`)
}

function databasesOf({ databaseUrl, home }: Servers): Promise<Record<StoringService, string>> {
  const passwords = storingServices.map((service) => [service, home.secret(`postgres-${service}`)])
  return provision(databaseUrl, Object.fromEntries(passwords) as Record<StoringService, string>, { dedicated: true })
}

function pidsOf({ nats, postgres, redis }: Servers, { handles }: Services): Record<string, number[]> {
  const named = { ...handles, 'nats-server': nats, postgres, redis }
  return Object.fromEntries(Object.entries(named).map(([name, process_]) => [name, [process_!.pid!]]))
}
