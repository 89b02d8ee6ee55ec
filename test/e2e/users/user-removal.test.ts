import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import type { JsonObject } from '@bufbuild/protobuf'
import type { Operation } from '../../examples/contract.ts'
import { ok, unique } from '../../examples/people.ts'
import { type Answer, factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'
import { houseKeys } from '../../house.ts'
import { startOwnHouse } from '../own-house.ts'

const byUrl = inject('roster').house === undefined
const why = byUrl ? ' (skipped: it takes a Roster of its own)' : ''
const soon = { timeout: 20_000 }
const root = join(import.meta.dirname, '../../..')
let house: Awaited<ReturnType<typeof startOwnHouse>>
let sql: postgres.Sql
let grants: ChildProcess

beforeAll(async () => {
  if (byUrl) return
  house = await startOwnHouse({ withoutGrants: true })
  sql = postgres(house.servers.databaseUrl, { max: 4, onnotice: () => {} })
  startGrants()
  await vi.waitFor(async () => ok(await call('GetMyOrganization', {}, house.machine)), soon)
})
afterAll(async () => {
  grants?.kill('SIGKILL')
  await sql?.end()
  await house?.stop()
})

function startGrants() {
  const { serviceDatabaseUrls, natsUrl } = house.servers
  grants = spawn(process.execPath, ['services/grants/main.ts'], {
    cwd: root,
    env: {
      ...process.env,
      DATABASE_URL: serviceDatabaseUrls.grants,
      NATS_URL: natsUrl.grants,
      ...houseKeys.grants,
    },
    stdio: 'ignore',
  })
}

async function end(signal: NodeJS.Signals) {
  const gone = once(grants, 'exit')
  grants.kill(signal)
  await gone
}

const act = async (operation: Operation, request: JsonObject) => ok(await call(operation, request, house.machine))
const reason = (answer: Answer) => factsOf(answer).reason ?? 'ok'

/** Adds a machine with so many grants and one membership. Returns its id and those of the grants. */
async function newHolder(count: number) {
  const { userId } = await act('AddMachineUser', { userName: unique('machine'), name: 'M' })
  await act('AddOrganizationMember', { userId, roles: ['ORG_OWNER'] })
  const grant = async () => {
    const { id: projectId } = await act('AddProject', { name: 'P' })
    return (await act('AddUserGrant', { userId, projectId })).userGrantId as string
  }
  return { userId: userId as string, grantIds: await Promise.all(Array.from({ length: count }, grant)) }
}

/** How often each of the user's grants and memberships was taken away. */
async function removals(userId: string): Promise<number[]> {
  const rows = await sql<{ removals: number }[]>`
    select (count(*) filter (where type = 'removed'))::int as removals from roster_grants.events
    where aggregate_type in ('member', 'user_grant') and aggregate_id in (
      select aggregate_id from roster_grants.events where type = 'added' and payload ->> 'userId' = ${userId}
    )
    group by aggregate_type, aggregate_id
  `
  return rows.map((row) => row.removals)
}

describe.skipIf(byUrl)(`the grants and memberships of a removed user${why}`, () => {
  test(
    'disappear once each, even if grants is killed half-way and absent for a while',
    { timeout: 120_000 },
    async () => {
      const { userId, grantIds } = await newHolder(100)
      const held = await sql.reserve()
      // The removal of the membership waits, and so do changes in the same transaction. The rest goes in another one.
      await held`begin`
      await held`lock table roster_grants.memberships in share mode`
      await act('DeleteUser', { userId })
      const taken = async () => (await removals(userId)).filter((times) => times > 0).length
      await expect.poll(taken, soon).toBeGreaterThan(0)
      await end('SIGKILL')
      await held`rollback`
      held.release()
      expect(await taken()).toBeLessThan(101)
      expect(reason(await call('GetUser', { userId }, house.machine))).toBe('USER_NOT_FOUND')
      startGrants()
      await expect.poll(() => removals(userId), { timeout: 100_000 }).toEqual(Array(101).fill(1))
      for (const grantId of [grantIds[0]!, grantIds.at(-1)!])
        expect(reason(await call('GetUserGrant', { userId, grantId }, house.machine))).toBe('USER_GRANT_NOT_FOUND')
      expect(await sql`select 1 from roster_grants.memberships where user_id = ${userId}`).toHaveLength(0)
    },
  )

  test('do not survive, even if they are added while the user is being removed', async () => {
    const gave: { userId: string; grantId: string }[] = []
    for (let round = 0; round < 10; round++) {
      const { userId } = await newHolder(0)
      const projects = await Promise.all(Array.from({ length: 12 }, () => act('AddProject', { name: 'P' })))
      const answers = await Promise.all([
        ...projects.slice(0, 6).map(({ id }) => call('AddUserGrant', { userId, projectId: id }, house.machine)),
        call('DeleteUser', { userId }, house.machine),
        ...projects.slice(6).map(({ id }) => call('AddUserGrant', { userId, projectId: id }, house.machine)),
      ])
      for (const answer of answers) {
        expect(['ok', 'USER_NOT_FOUND']).toContain(reason(answer))
        if (answer.ok?.userGrantId) gave.push({ userId, grantId: answer.ok.userGrantId })
      }
      // This grant is given while the removal is on its way to grants, or just after it.
      const late = await act('AddProject', { name: 'P' })
      expect(reason(await call('AddUserGrant', { userId, projectId: late.id }, house.machine))).toBe('USER_NOT_FOUND')
    }
    expect(gave.length).toBeGreaterThan(0)
    const left = async () => {
      const answers = await Promise.all(gave.map((grant) => call('GetUserGrant', { ...grant }, house.machine)))
      return answers.filter((answer) => reason(answer) !== 'USER_GRANT_NOT_FOUND')
    }
    await expect.poll(left, soon).toEqual([])
  })

  test('do not come back with the first administrators when grants starts again', async () => {
    const owner = await house.human()
    ok(await call('DeleteUser', { userId: 'admin-machine' }, owner))
    const memberships = () => sql`select 1 from roster_grants.memberships where user_id = 'admin-machine'`
    await expect.poll(memberships, soon).toHaveLength(0)
    await end('SIGTERM')
    startGrants()
    await expect.poll(async () => reason(await call('GetMyOrganization', {}, owner)), soon).toBe('ok')
    expect(await memberships()).toHaveLength(0)
  })
})
