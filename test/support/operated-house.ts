import postgres from 'postgres'
import { callGrpc } from '../e2e/clients/grpc.ts'
import type { Operation } from '../examples/contract.ts'
import { ok } from '../examples/people.ts'
import { type House, type HouseOptions, startHouse } from '../house.ts'
import { startTestServers, type TestServers } from '../infra.ts'
import { operatorSettings, type Ran, runOperator } from './operator.ts'

/** A Roster with servers of its own, and the operator's command for it. */
export interface OperatedHouse {
  servers: TestServers
  house: House
  /** PostgreSQL, as its administrator. */
  admin: postgres.Sql
  /** The settings of the operator's command. */
  settings: Record<string, string>
  /** Runs the operator's command. */
  roster(...args: string[]): Promise<Ran>
  /** Calls an operation as the administrator. Throws the error that it answers. */
  act(operation: Operation, request: object): Promise<any>
  stop(): Promise<void>
}

/** Starts it. `environment` is for each service. */
export async function startOperatedHouse(
  environment: Record<string, string> = {},
  options: Omit<HouseOptions, 'servers'> = {},
): Promise<OperatedHouse> {
  const started = await startTestServers()
  const { servers } = started
  const house = await startHouse(servers.serviceDatabaseUrls, environment, { ...options, servers })
  const admin = postgres(servers.databaseUrl, { max: 3, onnotice: () => {} })
  const settings = operatorSettings(servers)
  return {
    servers,
    house,
    admin,
    settings,
    roster: (...args) => runOperator(args, settings),
    act: async (operation, request) =>
      ok(await callGrpc(operation, request as never, { url: house.url, token: house.adminToken })),
    async stop() {
      await house.stop()
      await admin.end()
      await started.stop()
    },
  }
}
