import type { TestProject } from 'vitest/node'
import { freePort } from '../deploy/local/ports.ts'
import { startServers } from '../deploy/local/servers.ts'
import type { NatsUser } from '../deploy/local/servers/nats-users.ts'
import { provision, type StoringService } from '../deploy/provision.ts'
import { startContainers } from './infra-containers.ts'
import { startMoreNats } from './support/more-nats.ts'
import { waitingWorkers } from './workers.ts'

declare module 'vitest' {
  interface ProvidedContext {
    servers: TestServers
    /** A NATS server for each worker. */
    natsServers: NatsServer[]
  }
}

/** `claimPort`: the worker process that listens on this port owns the NATS server. */
export interface NatsServer {
  natsUrl: TestServers['natsUrl']
  claimPort: number
}

export interface TestServers {
  /** The administrator's URL of a provisioned database. */
  databaseUrl: string
  databasePasswords: Record<StoringService | 'operator', string>
  /** Each service's own URL of that database, and that of the operator's command. */
  serviceDatabaseUrls: Record<StoringService | 'operator', string>
  natsUrl: Record<NatsUser, string>
  redisUrl: string
  smtpUrl: string
  /** Undefined where ROSTER_TEST_SMTP_URL names a foreign mail server. */
  mailboxUrl: string | undefined
}

/** Vitest's global setup: servers for the whole run, which its projects share. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  run.projects++
  const { natsServers, servers, stop } = await (run.started ??= start())
  project.provide('servers', servers)
  project.provide('natsServers', natsServers)
  return async () => {
    if (--run.projects === 0) await stop()
  }
}

// Vitest loads this file anew for each project.
const run = ((globalThis as { rosterTestRun?: Run }).rosterTestRun ??= { projects: 0, started: undefined })

interface Run {
  projects: number
  started: ReturnType<typeof start> | undefined
}

async function start() {
  const { servers, stop } = await startTestServers()
  const more =
    process.env['ROSTER_TEST_CONTAINERS'] === '1' || process.env['ROSTER_TEST_NATS_URL'] ? 0 : waitingWorkers - 1
  const started = await Promise.all(Array.from({ length: more }, () => startMoreNats(servers)))
  const all = [servers, ...started].map(async ({ natsUrl }) => ({ natsUrl, claimPort: await freePort(0) }))
  return {
    servers,
    natsServers: await Promise.all(all),
    async stop() {
      await Promise.all(started.map((one) => one.stop()))
      await stop()
    },
  }
}

/**
 * Returns servers and a provisioned database. ROSTER_TEST_DATABASE_URL, _NATS_URL, _REDIS_URL and _SMTP_URL may name
 * them (NATS with ROSTER_NATS_PASSWORD_<USER>).
 * With ROSTER_TEST_CONTAINERS=1 the others are containers. Without it they are local programs.
 */
export async function startTestServers(): Promise<{ servers: TestServers; stop(): Promise<void> }> {
  const containers = process.env['ROSTER_TEST_CONTAINERS'] === '1' ? await startContainers() : undefined
  const named = (name: string) => process.env[`ROSTER_TEST_${name}`] ?? containers?.env[name]
  const env = {
    ...process.env,
    ...containers?.env,
    ...Object.fromEntries(['DATABASE_URL', 'NATS_URL', 'REDIS_URL', 'SMTP_URL'].map((name) => [name, named(name)])),
  }
  const servers = await startServers({ ephemeral: true, ports: 'random', env })
  const databasePasswords = {
    users: 'users-password',
    grants: 'grants-password',
    idp: 'idp-password',
    notifier: 'notifier-password',
    operator: 'operator-password',
  }
  const databaseUrl = withDatabase(servers.databaseUrl, `roster_test_${process.pid}_${Date.now()}`)
  const serviceDatabaseUrls = (await provision(databaseUrl, databasePasswords)) as Record<
    StoringService | 'operator',
    string
  >
  const { natsUrl, redisUrl, smtpUrl, mailboxUrl } = servers
  return {
    servers: { databaseUrl, databasePasswords, serviceDatabaseUrls, natsUrl, redisUrl, smtpUrl, mailboxUrl },
    async stop() {
      await servers.stop()
      await containers?.stop()
    },
  }
}

function withDatabase(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}
