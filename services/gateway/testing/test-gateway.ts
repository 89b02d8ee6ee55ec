import { hash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { RosterError } from '#lib/errors'
import { connectNats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { testGatewayKeys } from '#test/support/caller-keys'
import { openHome } from '../../../deploy/local/home.ts'
import { startNats } from '../../../deploy/local/servers/nats-server.ts'
import { freePort } from '../../../deploy/local/ports.ts'
import { readGatewayConfig } from '../config.ts'
import { startGateway } from '../server.ts'
import { type Operations, serveJsonOperations, serviceNames, type TestNats } from './test-services.ts'

/** A caller that the test's users and grants know. */
export interface TestCaller {
  userId: string
  organizationId: string
  expirationDate?: string
  /** Of an access token of a person. */
  standsOn?: string[]
  brief?: boolean
  instanceRoles?: string[]
  memberships?: { organizationId: string; roles: string[] }[]
  projectMemberships?: { organizationId: string; projectId: string; roles: string[] }[]
}

/** The state behind the gateway. A test may change it at will. */
export interface Backstage {
  /**
   * The callers by token. At first there are `admin`, an owner of the instance, and `member`, a manager of the users of
   * the organization `home`.
   */
  callers: Map<string, TestCaller>
  organizations: Set<string>
  /** Organizations that are deactivated or removed. */
  closed: Set<string>
  /** How often each internal method was asked. */
  asked: { authenticate: number; listMemberships: number; lookupOrganization: number }
  /** Authenticate runs this after it has looked the caller up, and before its answer leaves. */
  beforeAuthenticated: () => Promise<void>
}

export interface TestGateway {
  port: number
  /** Such as `http://127.0.0.1:40123`. */
  url: string
  backstage: Backstage
  /** A connection of each service, in the service's account. */
  nats: TestNats
  /** The address where another gateway finds the same broker. */
  natsUrl: string
  /** The gateway's log, parsed. */
  log: Record<string, unknown>[]
  /** The services by name: users, grants, idp, notifier. */
  services: Map<string, Service>
  broker: { kill(): Promise<void>; restart(): Promise<void> }
  stopGateway(): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts a gateway in this process over a real nats-server. Behind it stand these operations, by full method name, in
 * JSON.
 */
export async function startTestGateway(
  operations: Operations = {},
  environment: Record<string, string> = {},
  clock?: () => number,
): Promise<TestGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'roster-gateway-'))
  const { urls, server } = await startNats(openHome(folder), { port: await freePort(0), say: () => {} })
  const silent = pino({ level: 'silent' })
  const each = serviceNames.map(async (name) => [name, await connectNats(urls[name], name, silent)] as const)
  const nats = Object.fromEntries(await Promise.all(each)) as TestNats
  const own = await connectNats(urls.gateway, 'gateway', silent)
  const backstage = createBackstage()
  const services = await serveJsonOperations(nats, { ...internalOperations(backstage), ...idle, ...operations })

  const log: Record<string, unknown>[] = []
  const config = readGatewayConfig({
    PORT: '0',
    HOST: '127.0.0.1',
    NATS_URL: urls.gateway,
    NATS_KEEPER_URL: urls.keeper,
    ROSTER_CALLER_KEYS: testGatewayKeys,
    ...environment,
  })
  const gateway = await startGateway({
    config,
    nats: own,
    ...(clock && { clock }),
    log: pino({ level: 'info' }, { write: (line) => void log.push(JSON.parse(line) as Record<string, unknown>) }),
  })
  let stopped: Promise<void> | undefined
  const stopGateway = () => (stopped ??= gateway.stop())
  return {
    port: gateway.port,
    url: `${config.TLS_CERT === undefined ? 'http' : 'https'}://127.0.0.1:${gateway.port}`,
    backstage,
    natsUrl: urls.gateway,
    nats,
    log,
    services,
    broker: { kill: () => server.kill(), restart: () => server.restart() },
    stopGateway,
    async stop() {
      await stopGateway()
      await Promise.all([own, ...Object.values(nats)].map(({ connection }) => connection.close()))
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

// These make each service answer, even where a test serves none of its operations.
const idle: Operations = {
  'roster.idp.v1.IdentityProviderService.GetIDP': () => ({}),
  'roster.notifier.v1.EventService.SearchEvents': () => ({}),
}

function createBackstage(): Backstage {
  return {
    callers: new Map<string, TestCaller>([
      ['admin', { userId: 'admin-id', organizationId: 'home', instanceRoles: ['IAM_OWNER'] }],
      [
        'member',
        {
          userId: 'member-id',
          organizationId: 'home',
          memberships: [{ organizationId: 'home', roles: ['ORG_USER_MANAGER'] }],
        },
      ],
    ]),
    organizations: new Set(['home', 'away']),
    closed: new Set(),
    asked: { authenticate: 0, listMemberships: 0, lookupOrganization: 0 },
    beforeAuthenticated: () => Promise.resolve(),
  }
}

function internalOperations(backstage: Backstage): Operations {
  const { asked } = backstage
  return {
    async 'roster.users.v1.InternalService.Authenticate'({ tokenHash }) {
      asked.authenticate++
      const found = [...backstage.callers].find(([token]) => hash('sha256', token, 'base64') === tokenHash)
      await backstage.beforeAuthenticated()
      if (!found) throw new RosterError('UNAUTHENTICATED', 'TOKEN_INVALID', 'The token is not valid.')
      const { userId, organizationId, expirationDate, standsOn = [], brief = false } = found[1]
      const end = expirationDate !== undefined && { expirationDate }
      return { userId, organizationId, human: true, standsOn, brief, ...end }
    },
    'roster.grants.v1.InternalService.ListMemberships'({ userId, organizationId }) {
      asked.listMemberships++
      const caller = [...backstage.callers.values()].find((candidate) => candidate.userId === userId)
      const { instanceRoles = [], memberships = [], projectMemberships = [] } = caller ?? {}
      const organizationClosed = backstage.closed.has(organizationId as string)
      const hasRole = instanceRoles.length + memberships.length + projectMemberships.length > 0
      return { instanceRoles, memberships, projectMemberships, organizationClosed, hasRole }
    },
    'roster.grants.v1.InternalService.LookupOrganization'({ organizationId }) {
      asked.lookupOrganization++
      if (!backstage.organizations.has(organizationId as string))
        throw new RosterError('NOT_FOUND', 'ORGANIZATION_NOT_FOUND', 'There is no such organization.')
      return { organizationId: organizationId!, ownedDomain: '', primaryDomain: '' }
    },
  }
}
