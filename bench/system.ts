import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Servers, startServers } from '../deploy/local/servers.ts'
import { freePort } from '../deploy/local/ports.ts'
import { type Services, startServices } from '../deploy/local/services.ts'
import { provision, storingServices, type StoringService } from '../deploy/provision.ts'
import { type BareChain, startBareChain } from './bare-chain.ts'

/** A running Roster and the bare chain beside it. */
export interface System {
  url: string
  token: string
  servers: Servers
  bare: BareChain
  /** Process ids by name. */
  pids: Record<string, number>
  stop(): Promise<void>
}

/**
 * Starts the same as `npm start`, just as durable, on free ports and in a folder that `stop` deletes. With `profiles`,
 * each service writes a CPU profile into that folder when it ends.
 */
export async function startSystem(profiles: string | undefined): Promise<System> {
  const folder = mkdtempSync(join(tmpdir(), 'roster-bench-'))
  const begun: { stop(): Promise<void> }[] = [{ stop: async () => rmSync(folder, { recursive: true, force: true }) }]
  const stop = async () => {
    for (const part of begun.splice(0).toReversed()) await part.stop()
  }
  try {
    const servers = await startServers({ dataDir: folder, ports: 'random', env: {} })
    begun.push(servers)
    const services = await startRoster(servers, profiles)
    begun.push(services)
    const bare = await startBareChain(servers)
    begun.push(bare)
    const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim()
    return { url: services.url, token, servers, bare, pids: pidsOf(servers, services, bare), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startRoster(servers: Servers, profiles: string | undefined): Promise<Services> {
  const passwords = storingServices.map((service) => [service, servers.home.secret(`postgres-${service}`)])
  const databaseUrls = await provision(
    servers.databaseUrl,
    Object.fromEntries(passwords) as Record<StoringService, string>,
    { dedicated: true },
  )
  const env = profiles ? { ...process.env, NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profiles}` } : process.env
  return startServices(servers, {
    databaseUrls,
    port: await freePort(0),
    adminTokenFile: join(servers.home.dir, 'admin-token'),
    encryptionKey: servers.home.key('encryption-key'),
    env,
    backoff: 'off',
  })
}

function pidsOf(servers: Servers, services: Services, bare: BareChain): Record<string, number> {
  const named = {
    ...services.handles,
    'nats-server': servers.nats,
    postgres: servers.postgres,
    redis: servers.redis,
    'bare http': bare.http,
    'bare responder': bare.responder,
  }
  return Object.fromEntries(Object.entries(named).map(([name, process_]) => [name, process_!.pid!]))
}
