import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type OperatedHouse, startOperatedHouse } from '#test/support/operated-house'
import { unique } from '../../../test/examples/people.ts'

let there: OperatedHouse
const large = 210
const bytes = 255_000

beforeAll(async () => {
  there = await startOperatedHouse()
}, 120_000)
afterAll(() => there?.stop())

// A user grant that was changed often, each time to roles with keys of 200 characters.
test('a tenant who fills the stream with the largest events does not end verify', { timeout: 240_000 }, async () => {
  const { admin, act, roster } = there
  const { id: projectId } = await act('AddProject', { name: unique('Project') })
  for (const roleKey of ['reader', 'writer']) await act('AddProjectRole', { projectId, roleKey, displayName: 'r' })
  const { userId } = await act('AddMachineUser', { userName: unique('machine'), name: 'A machine' })
  const { userGrantId: grantId } = await act('AddUserGrant', { userId, projectId, roleKeys: ['reader'] })
  const key = '😀'.repeat(200)
  const roleKeys = Array.from({ length: Math.floor(bytes / Buffer.byteLength(key)) }, () => key)
  await admin`
    insert into roster_grants.events (aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id, created_at)
    select aggregate_type, aggregate_id, 1 + n, 'changed', ${admin.json({ roleKeys })}, organization_id, creator, '', created_at
    from roster_grants.events, generate_series(1, ${large}) n where aggregate_id = ${grantId} and sequence = 1
  `
  await admin`update roster_grants.aggregates set sequence = 1 + ${large} where id = ${grantId}`
  await act('UpdateUserGrant', { userId, grantId, roleKeys: ['writer'] })
  const waiting = async () =>
    (
      await admin`select from roster_grants.events e, roster_grants.published p where (e.transaction_id, e.position) > (p.transaction_id, p.position)`
    ).count
  await vi.waitFor(async () => expect(await waiting()).toBe(0), { timeout: 120_000, interval: 500 })
  const [{ stream }] = (await roster('status', '--json')).json()
  expect(stream.bytes).toBeGreaterThan(large * bytes * 0.99)
  const { status, out, err } = await roster('verify')
  expect({ status, out, err }).toMatchObject({ status: 0, out: 'Nothing differs.\n' })
})
