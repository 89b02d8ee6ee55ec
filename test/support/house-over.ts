import postgres from 'postgres'
import { startServers } from '../../deploy/local/servers.ts'
import { provision } from '../../deploy/provision.ts'
import { callGrpc } from '../e2e/clients/grpc.ts'
import type { Operation } from '../examples/contract.ts'
import { ok } from '../examples/people.ts'
import { startHouse } from '../house.ts'
import type { TestServers } from '../infra.ts'
import type { OperatedHouse } from './operated-house.ts'
import { operatorSettings, runOperator } from './operator.ts'

const names = ['users', 'grants', 'idp', 'notifier', 'operator'] as const
const passwords = Object.fromEntries(
  names.map((name) => [name, `${name}-password`]),
) as TestServers['databasePasswords']

/** The passwords of the roles, as `provision` reads them. */
export const provisionSettings = Object.fromEntries(
  names.map((name) => [`ROSTER_${name.toUpperCase()}_DB_PASSWORD`, passwords[name]]),
)

/** The servers of a Roster. */
export type ServersOver = Awaited<ReturnType<typeof startServersOver>>

/** Starts everything beside a PostgreSQL, all of it empty, and makes the roles. */
export async function startServersOver(databaseUrl: string) {
  const started = await startServers({ ephemeral: true, ports: 'random', env: { DATABASE_URL: databaseUrl } })
  const serviceDatabaseUrls = (await provision(databaseUrl, passwords)) as TestServers['serviceDatabaseUrls']
  const { natsUrl, redisUrl, smtpUrl, mailboxUrl } = started
  const servers = {
    databaseUrl,
    databasePasswords: passwords,
    serviceDatabaseUrls,
    natsUrl,
    redisUrl,
    smtpUrl,
    mailboxUrl,
  }
  const settings = operatorSettings(servers)
  return {
    servers,
    settings,
    roster: (...args: string[]) => runOperator(args, settings),
    stop: () => started.stop(),
  }
}

/** Starts the services over these servers. `adminToken`: where the database has one already. */
export async function startHouseOver(
  { servers, settings, roster }: ServersOver,
  adminToken?: string,
  environment: Record<string, string> = {},
): Promise<OperatedHouse> {
  const more = { WEBHOOK_ALLOW_PRIVATE: '127.0.0.1', SWEEP_INTERVAL: '1', CHECKPOINT_INTERVAL: '1', ...environment }
  const house = await startHouse(servers.serviceDatabaseUrls, more, { servers, ...(adminToken && { adminToken }) })
  const admin = postgres(servers.databaseUrl, { max: 3, onnotice: () => {} })
  return {
    servers,
    house,
    admin,
    settings,
    roster,
    act: async (operation: Operation, request) =>
      ok(await callGrpc(operation, request as never, { url: house.url, token: house.adminToken })),
    async stop() {
      await house.stop()
      await admin.end()
    },
  }
}
