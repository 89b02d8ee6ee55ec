import postgres from 'postgres'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { operatorSettings, runOperator } from '#test/support/operator'
import type { Operation } from '../../../test/examples/contract.ts'
import { callGrpc } from '../../../test/e2e/clients/grpc.ts'
import { ok, unique } from '../../../test/examples/people.ts'
import { type House, startHouse } from '../../../test/house.ts'
import { startTestServers } from '../../../test/infra.ts'

let started: Awaited<ReturnType<typeof startTestServers>>
let house: House
let admin: postgres.Sql
const large = 210
const bytes = 255_000

beforeAll(async () => {
  started = await startTestServers()
  house = await startHouse(started.servers.serviceDatabaseUrls, {}, { servers: started.servers })
  admin = postgres(started.servers.databaseUrl, { max: 1, connection: { search_path: 'roster_grants' } })
}, 120_000)
afterAll(async () => {
  await admin?.end()
  await house?.stop()
  await started?.stop()
})

const act = async (operation: Operation, request: object) =>
  ok(await callGrpc(operation, request as never, { url: house.url, token: house.adminToken }))
const roster = (...args: string[]) => runOperator(args, operatorSettings(started.servers))

// A user grant that was changed often, each time to roles with keys of 200 characters.
test('a tenant who fills the stream with the largest events does not end verify', { timeout: 240_000 }, async () => {
  const { id: projectId } = await act('AddProject', { name: unique('Project') })
  for (const roleKey of ['reader', 'writer']) await act('AddProjectRole', { projectId, roleKey, displayName: 'r' })
  const { userId } = await act('AddMachineUser', { userName: unique('machine'), name: 'A machine' })
  const { userGrantId: grantId } = await act('AddUserGrant', { userId, projectId, roleKeys: ['reader'] })
  const key = '😀'.repeat(200)
  const roleKeys = Array.from({ length: Math.floor(bytes / Buffer.byteLength(key)) }, () => key)
  await admin`
    insert into events (aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id, created_at)
    select aggregate_type, aggregate_id, 1 + n, 'changed', ${admin.json({ roleKeys })}, organization_id, creator, '', created_at
    from events, generate_series(1, ${large}) n where aggregate_id = ${grantId} and sequence = 1
  `
  await admin`update aggregates set sequence = 1 + ${large} where id = ${grantId}`
  await act('UpdateUserGrant', { userId, grantId, roleKeys: ['writer'] })
  const waiting = async () =>
    (
      await admin`select from events e, published p where (e.transaction_id, e.position) > (p.transaction_id, p.position)`
    ).count
  await vi.waitFor(async () => expect(await waiting()).toBe(0), { timeout: 120_000, interval: 500 })
  const [{ stream }] = (await roster('status', '--json')).json()
  expect(stream.bytes).toBeGreaterThan(large * bytes * 0.99)
  const { status, out, err } = await roster('verify')
  expect({ status, out, err }).toMatchObject({ status: 0, out: 'Nothing differs.\n' })
})
