import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { inSeconds } from '../../examples/machines.ts'
import { ok, unique } from '../../examples/people.ts'
import { type Answer, type CallOptions, factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'
import { startOwnHouse } from '../own-house.ts'

const byUrl = inject('roster').house === undefined
const why = byUrl ? ' (skipped: it takes a Roster of its own)' : ''
let house: Awaited<ReturnType<typeof startOwnHouse>>

beforeAll(async () => {
  if (!byUrl) house = await startOwnHouse({ replicas: 2 })
})
afterAll(() => house?.stop())

const reason = (answer: Answer) => factsOf(answer).reason ?? 'ok'

interface Owner extends CallOptions {
  token: string
  userId: string
  orgId: string
}

/** A machine in an organization of its own, with the role IAM_OWNER. */
async function newOwner(url: string): Promise<Owner> {
  const { machine } = house
  const { organizationId: orgId } = ok(await call('AddOrganization', { name: unique('O') }, machine))
  const there = { ...machine, organization: orgId }
  const { userId } = ok(await call('AddMachineUser', { userName: unique('m'), name: 'M' }, there))
  const expirationDate = inSeconds(3600)
  const { token } = ok(await call('AddPersonalAccessToken', { userId, expirationDate }, there))
  ok(await call('AddInstanceMember', { userId, roles: ['IAM_OWNER'] }, machine))
  return { url, token, userId, orgId }
}

const roles = ['IAM_OWNER_VIEWER']
const ends: Record<string, (owner: Owner, by: Owner) => Promise<Answer>> = {
  RemoveInstanceMember: ({ userId }, by) => call('RemoveInstanceMember', { userId }, by),
  UpdateInstanceMember: ({ userId }, by) => call('UpdateInstanceMember', { userId, roles }, by),
  DeactivateUser: ({ userId }, by) => call('DeactivateUser', { userId }, by),
  RemoveOrganization: ({ orgId }, by) => call('RemoveOrganization', { orgId }, by),
  DeactivateOrganization: ({ orgId }, by) => call('DeactivateOrganization', {}, { ...by, organization: orgId }),
}
const kinds = Object.keys(ends)
const pairs = kinds.flatMap((one, index) => kinds.slice(index).map((other) => [one, other] as const))

describe.skipIf(byUrl)(`of two owners of the instance that end each other at the same time${why}`, () => {
  beforeAll(async () => {
    ok(await call('RemoveInstanceMember', { userId: 'admin' }, house.machine))
  })

  test.each(pairs)('by %s and %s, one stays', { timeout: 60_000 }, async (one, other) => {
    for (let round = 0; round < 3; round++) {
      const [first, second] = [await newOwner(house.urls[0]!), await newOwner(house.urls[1]!)]
      const others = { userId: 'admin-machine' }
      ok(await call('LockUser', others, first))
      const answers = await Promise.all([ends[one]!(second, first), ends[other]!(first, second)])
      const reasons = answers.map(reason)
      expect(reasons.filter((found) => found === 'ok')).toHaveLength(1)
      expect(['LAST_IAM_OWNER', 'PERMISSION_DENIED', 'TOKEN_INVALID', 'CONFLICT']).toContain(
        reasons.find((found) => found !== 'ok'),
      )
      const [survivor, ended] = reasons[0] === 'ok' ? [first, second] : [second, first]
      // Nor does the last one go in any other way.
      for (const kind of kinds) expect(reason(await ends[kind]!(survivor, survivor))).toBe('LAST_IAM_OWNER')
      ok(await call('UnlockUser', others, survivor))
      for (const { userId } of [survivor, ended]) await call('RemoveInstanceMember', { userId }, house.machine)
    }
  })

  test('an owner whose removal was refused counts as before', async () => {
    const [first, second] = [await newOwner(house.urls[0]!), await newOwner(house.urls[1]!)]
    const stale = { ...first, headers: { 'if-match': '"7"' } }
    const refused = await call('RemoveInstanceMember', { userId: second.userId }, stale)
    expect(reason(refused)).toBe('SEQUENCE_MISMATCH')
    ok(await call('LockUser', { userId: 'admin-machine' }, first))
    expect(reason(await ends.DeactivateUser!(first, second))).toBe('ok')
    expect(reason(await ends.DeactivateUser!(second, second))).toBe('LAST_IAM_OWNER')
    // The users of an organization count again once it is active again.
    const third = await newOwnerBy(second)
    ok(await ends.DeactivateOrganization!(third, second))
    expect(reason(await ends.RemoveInstanceMember!(second, second))).toBe('LAST_IAM_OWNER')
    ok(await call('ReactivateOrganization', {}, { ...second, organization: third.orgId }))
    expect(reason(await ends.RemoveInstanceMember!(second, second))).toBe('ok')
  })
})

async function newOwnerBy(owner: Owner): Promise<Owner> {
  const { organizationId: orgId } = ok(await call('AddOrganization', { name: unique('O') }, owner))
  const { userId } = ok(
    await call('AddMachineUser', { userName: unique('m'), name: 'M' }, { ...owner, organization: orgId }),
  )
  ok(await call('AddInstanceMember', { userId, roles: ['IAM_OWNER'] }, owner))
  return { ...owner, userId, orgId }
}
