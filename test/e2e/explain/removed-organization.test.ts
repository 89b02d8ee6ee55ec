import { expect, test } from 'vitest'
import { admin, newMember, newOrganization, ok } from '../../examples/people.ts'
import { call } from '../clients/encodings.ts'

test('a membership that went with its organization gives nothing, and its explanation says when it went', async () => {
  const [home, doomed] = [await newOrganization(), await newOrganization()]
  const { userId } = await newMember(home, [])
  ok(await call('AddOrganizationMember', { userId, roles: ['ORG_OWNER'] }, admin(doomed)))
  const explain = async (asOf: object = {}) => {
    const question = { userId, permission: 'project.write', ...asOf }
    const [ground] = ok(await call('ExplainPermission', question, admin(home))).grounds
    const effects = ground.events.map(({ type, effect = '' }: any) => [type, effect.replace('EVENT_EFFECT_', '')])
    return { faults: ground.faults.map((fault: string) => fault.replace('GROUND_FAULT_', '')), effects, ground }
  }
  const before = await explain()
  expect([before.faults, before.effects]).toEqual([['ELSEWHERE'], [['roster.member.added.v1', 'GAVE']]])

  ok(await call('RemoveOrganization', { orgId: doomed }, admin()))
  const gone = ['REMOVED', 'ELSEWHERE', 'ORGANIZATION_CLOSED']
  await expect.poll(async () => (await explain()).faults, { timeout: 30_000 }).toEqual(gone)
  const { effects } = await explain()
  expect(effects).toEqual([
    ['roster.member.added.v1', 'GAVE'],
    ['roster.member.removed.v1', 'TOOK'],
  ])
  const asOfPosition = String(before.ground.events[0].position)
  expect((await explain({ asOfPosition })).ground).toEqual(before.ground)
})
