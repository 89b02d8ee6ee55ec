import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { storingServices, type StoringService } from '../deploy/provision.ts'
import { factsOf } from './e2e/clients/call.ts'
import { callGrpc } from './e2e/clients/grpc.ts'
import { requestsOf } from './e2e/clients/requests.ts'
import { contract, type Operation } from './examples/contract.ts'
import { addEveryObject, type EveryObject } from './examples/every-object.ts'
import { type House, startHouse } from './house.ts'
import { startTestServers, type TestServers } from './infra.ts'

let started: { servers: TestServers; stop(): Promise<void> }
let house: House
let admin: postgres.Sql
let all: EveryObject

beforeAll(async () => {
  started = await startTestServers()
  const { serviceDatabaseUrls: urls, databaseUrl } = started.servers
  // Statements are given up so soon that the test need not wait for it.
  const impatient = storingServices.map((name) => [name, `${urls[name]}?statement_timeout=500`])
  house = await startHouse(
    Object.fromEntries(impatient) as Record<StoringService, string>,
    { WRITES_PER_CALLER: '100000' },
    { servers: started.servers },
  )
  admin = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  all = await addEveryObject(callGrpc, { url: house.url, token: house.adminToken }, 'https://hooks.example.com/')
}, 120_000)
afterAll(async () => {
  await admin?.end()
  await house?.stop()
  await started?.stop()
})

// A search has a limit of its own, and says SEARCH_TOO_LONG: lib/search tests that.
const operationsOf = (service: StoringService) =>
  (Object.keys(contract) as Operation[]).filter(
    (operation) => contract[operation][0].startsWith(`roster.${service}.`) && !operation.startsWith('Search'),
  )

test.each([
  ['users', 'GetUser', 'AddMachineUser'],
  ['grants', 'GetProject', 'AddProject'],
  ['idp', 'GetIDP', 'UpdateIDP'],
  ['notifier', 'GetDelivery', 'RotateWebhookSecret'],
] as const)(
  'while tables of %s are locked, no call says INTERNAL: STORE_UNAVAILABLE asks for a retry',
  async (name, read, write) => {
    const caller = all.callers[0]!
    const reasons = await admin.begin(async (transaction) => {
      const tables = await transaction<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = ${`roster_${name}`}
    `
      await transaction.unsafe(`lock table ${tables.map(({ name }) => name).join()} in access exclusive mode`)
      const calls = operationsOf(name).map(async (operation) => {
        const answer = await callGrpc(operation, requestsOf(operation, all.values).at(-1), caller)
        return [operation, answer.ok ? 'OK' : factsOf(answer).reason] as const
      })
      return new Map(await Promise.all(calls))
    })
    expect([...reasons].filter(([, reason]) => reason === 'INTERNAL')).toEqual([])
    for (const operation of [read, write]) expect(reasons.get(operation), operation).toBe('STORE_UNAVAILABLE')
  },
)
