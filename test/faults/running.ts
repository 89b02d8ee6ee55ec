import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { deriveKeys } from '../../deploy/derive-keys.ts'
import type { OperatorUrls } from '../../deploy/local/operator-urls.ts'
import { freePort } from '../../deploy/local/ports.ts'
import type { ServicesOptions } from '../../deploy/local/service-environment.ts'
import { startServers, type Servers, type ServersOptions } from '../../deploy/local/servers.ts'
import { startServices, type Services } from '../../deploy/local/services.ts'
import { provision } from '../../deploy/provision.ts'
import { type Cable, startCable } from '../support/cable.ts'
import { type Line, lines } from './plan.ts'

/** A Roster of real processes over its own servers. A test can kill each of them and cut each connection. */
export interface Running {
  servers: Servers
  services: Services
  cables: Record<Line, Cable>
  url: string
  adminToken: string
  /** Where the operator's command finds the servers, past the cables. */
  operator: OperatorUrls
  stop(): Promise<void>
}

/** Where a running Roster is called, and with which token. */
export type Called = Pick<Running, 'url' | 'adminToken'>

/** The gateway's deadline for a call, even if the client asks for a longer one. */
export const deadlineMs = 4000

export const databasePasswords = {
  users: 'users-password',
  grants: 'grants-password',
  idp: 'idp-password',
  notifier: 'notifier-password',
  operator: 'operator-password',
}

export const serviceSettings = {
  PATH: process.env['PATH'],
  SWEEP_INTERVAL: '3',
  MAILS_PER_ORGANIZATION_AN_HOUR: '100000',
  LOG_LEVEL: 'info',
  CALL_TIMEOUT_MS: String(deadlineMs),
  MAX_CALL_TIMEOUT_MS: String(deadlineMs),
  WEBHOOK_ALLOW_PRIVATE: '127.0.0.1',
}

/** Many faults in a few minutes must not make a process wait for half a minute before it restarts. */
export const supervision = { backoff: { first: 300, cap: 1000 }, say: () => {} }

/** Starts one like `npm start`, in a temporary folder. `settings` go to every service. */
export async function startRunning(
  settings: Record<string, string> = {},
  { under, ...options }: ServersOptions & Pick<ServicesOptions, 'under'> = {},
): Promise<Running> {
  const servers = await startServers({ ephemeral: true, ports: 'random', env: {}, say: () => {}, ...options })
  const begun: { stop(): Promise<void> }[] = [servers]
  const stop = async () => {
    for (const part of begun.splice(0).toReversed()) await part.stop()
  }
  try {
    const cables = await startCables(servers)
    begun.push(...Object.values(cables))
    const databaseUrls = await provision(servers.databaseUrl, databasePasswords)
    const encryptionKey = randomBytes(32).toString('base64')
    const adminTokenFile = join(servers.home.dir, 'admin-token')
    const through = (url: string, line: Line) => withPort(url, cables[line].port)
    const natsUrl = { ...servers.natsUrl }
    for (const name of ['users', 'grants', 'gateway', 'notifier'] as const)
      natsUrl[name] = through(natsUrl[name], `${name}↔nats`)
    natsUrl.keeper = through(natsUrl.keeper, 'gateway↔nats')
    const seen: Servers = {
      ...servers,
      natsUrl,
      redisUrl: through(servers.redisUrl, 'notifier↔redis'),
      smtpUrl: through(servers.smtpUrl, 'notifier↔smtp'),
    }
    const services = await startServices(seen, {
      databaseUrls: {
        users: through(databaseUrls.users, 'users↔postgres'),
        grants: through(databaseUrls.grants, 'grants↔postgres'),
        idp: through(databaseUrls.idp, 'idp↔postgres'),
        notifier: through(databaseUrls.notifier, 'notifier↔postgres'),
      },
      port: await freePort(0),
      adminTokenFile,
      encryptionKey,
      env: { ...serviceSettings, ...settings },
      ...supervision,
      under,
    })
    begun.push(services)
    return {
      servers,
      services,
      cables,
      url: services.url,
      adminToken: readFileSync(adminTokenFile, 'utf8').trim(),
      operator: {
        databaseUrl: databaseUrls.operator!,
        natsUrl: servers.natsUrl.operator,
        redisUrl: servers.redisUrl,
        personalKey: deriveKeys(encryptionKey).operator['ROSTER_OPERATOR_PERSONAL_KEY'],
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startCables(servers: Servers): Promise<Record<Line, Cable>> {
  const urls = {
    postgres: servers.databaseUrl,
    nats: servers.natsUrl.admin,
    redis: servers.redisUrl,
    smtp: servers.smtpUrl,
  }
  const cables = lines.map(async (line) => {
    const url = urls[line.split('↔')[1] as keyof typeof urls]
    return [line, await startCable(Number(new URL(url).port))] as const
  })
  return Object.fromEntries(await Promise.all(cables)) as Record<Line, Cable>
}

function withPort(url: string, port: number): string {
  return url.replace(/:\d+(?=\/|$)/, `:${port}`)
}
