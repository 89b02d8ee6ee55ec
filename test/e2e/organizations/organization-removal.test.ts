import type { JsonObject } from '@bufbuild/protobuf'
import { describe, expect, inject, test } from 'vitest'
import type { Operation } from '../../examples/contract.ts'
import { admin, newHuman, newMachine, newOrganization, ok, signIn, unique } from '../../examples/people.ts'
import { grantProject, newProject } from '../../examples/projects.ts'
import { type Answer, factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'

const soon = { timeout: 30_000 }
const reason = (answer: Answer) => factsOf(answer).reason ?? 'ok'
const act = async (...[operation, request, caller]: Parameters<typeof call>) =>
  ok(await call(operation, request, caller))
const webhook = { url: 'https://hooks.example.com/', eventTypes: ['roster.session.created.v1'] }
const idp = () => ({ name: unique('idp'), clientId: 'c', clientSecret: 's', issuer: 'https://i.example', scopes: [] })

describe('a removed organization', () => {
  test('takes all with it that it has, and all that its users have elsewhere, by events that name the cause', async () => {
    const [doomed, home] = await Promise.all([newOrganization(), newOrganization()])
    const there = admin(doomed)
    const human = await newHuman(doomed, { password: 'Password-1234' })
    const token = await signIn(human)
    const machine = await newMachine(doomed)
    const [own, foreign, lent] = [
      await newProject(doomed, ['reader']),
      await newProject(home, ['reader']),
      await newProject(doomed, ['reader']),
    ]
    await grantProject(home, foreign, doomed, ['reader'])
    await grantProject(doomed, lent, home, ['reader'])
    const guest = await newHuman(home)
    const grants = await Promise.all([
      give(doomed, human.userId, own),
      give(doomed, human.userId, foreign),
      give(home, machine, foreign),
      give(home, guest.userId, lent),
    ])
    await act('AddOrganizationMember', { userId: guest.userId, roles: ['ORG_OWNER'] }, there)
    await act('AddOrganizationMember', { userId: machine, roles: ['ORG_OWNER'] }, admin(home))
    const { webhookId } = await act('AddWebhook', webhook, there)
    const { idpId } = await act('AddOrganizationOIDCIDP', idp(), there)
    await act('RemoveOrganization', { orgId: doomed }, admin())

    const gone: [Operation, JsonObject, string][] = [
      ['GetUser', { userId: human.userId }, home],
      ['GetUser', { userId: machine }, home],
      ...grants.map(([organization, userId, grantId]): [Operation, JsonObject, string] => [
        'GetUserGrant',
        { userId, grantId },
        organization,
      ]),
    ]
    const left = async () => {
      const answers = await Promise.all(
        gone.map(([operation, request, organization]) => call(operation, request, admin(organization))),
      )
      return answers.map(reason).filter((found) => !/_NOT_FOUND|PERMISSION_DENIED/.test(found))
    }
    await expect.poll(left, soon).toEqual([])
    expect(reason(await call('GetMyOrganization', {}, { token }))).toBe('TOKEN_INVALID')
    await expect.poll(async () => reason(await call('GetMyOrganization', {}, there)), soon).toBe('PERMISSION_DENIED')
    const removals = async () => {
      const request = { filter: { organizationId: doomed }, limit: 1000 }
      const { events } = await act('SearchEvents', request, admin())
      return events.filter(({ type }: any) => type.endsWith('.removed.v1') && type !== 'roster.organization.removed.v1')
    }
    const subjects = async () => (await removals()).map(({ aggregateId }: any) => aggregateId)
    await expect
      .poll(subjects, soon)
      .toEqual(expect.arrayContaining([human.userId, machine, webhookId, idpId, own, lent]))
    expect((await removals()).filter(({ causationId }: any) => !causationId)).toEqual([])
  })

  test('gets nothing new: what is added beside the removal is refused or removed', async () => {
    const doomed = await newOrganization()
    const there = admin(doomed)
    const adding = Array.from({ length: 40 }, (_, i) => [
      call('AddMachineUser', { userName: `m${i}`, name: 'M' }, there),
      call('AddProject', { name: `p${i}` }, there),
      call('AddWebhook', webhook, there),
      call('AddOrganizationOIDCIDP', idp(), there),
    ])
    adding.splice(20, 0, [call('RemoveOrganization', { orgId: doomed }, admin())])
    const reasons = (await Promise.all(adding.flat())).map(reason)
    expect(new Set([...reasons, 'ok', 'ORGANIZATION_NOT_FOUND', 'PERMISSION_DENIED'])).toEqual(
      new Set(['ok', 'ORGANIZATION_NOT_FOUND', 'PERMISSION_DENIED']),
    )
    const living = async () => {
      const { events } = await act('SearchEvents', { filter: { organizationId: doomed }, limit: 1000 }, admin())
      const of = (end: RegExp) =>
        events.filter(({ type }: any) => end.test(type)).map(({ aggregateId }: any) => aggregateId)
      const removed = new Set(of(/\.removed\.v1$/))
      return of(/\.added\.v1$/).filter((id: string) => !removed.has(id))
    }
    await expect.poll(living, soon).toEqual([])
  })
})

test('a deactivated organization shuts its users out, and comes back without their sessions', async () => {
  const [closed, home] = await Promise.all([newOrganization(), newOrganization()])
  const there = admin(closed)
  const human = await newHuman(closed, { password: 'Password-1234' })
  const guest = await newHuman(home, { password: 'Password-1234' })
  await act('AddOrganizationMember', { userId: human.userId, roles: ['ORG_OWNER'] }, there)
  for (const organization of [closed, home])
    await act('AddOrganizationMember', { userId: guest.userId, roles: ['ORG_OWNER'] }, admin(organization))
  const [token, guestToken] = [await signIn(human), await signIn(guest)]
  const everywhere = async () => {
    const urls = [undefined, inject('roster').house?.secondUrl]
    const answers = urls.map(async (url) => {
      const at = url === undefined ? {} : { url }
      return [
        reason(await call('GetMyOrganization', {}, { token, ...at })),
        reason(await call('GetMyOrganization', {}, { token: guestToken, organization: closed, ...at })),
      ]
    })
    return new Set((await Promise.all(answers)).map(String))
  }
  expect(await everywhere()).toEqual(new Set(['ok,ok']))
  await act('DeactivateOrganization', {}, there)
  await expect.poll(everywhere, { timeout: 5000, interval: 20 }).toEqual(new Set(['TOKEN_INVALID,PERMISSION_DENIED']))
  const tryToSignIn = async () =>
    reason(await call('CreateSession', { loginName: human.userName, password: human.password }))
  await expect.poll(tryToSignIn, soon).toBe('CREDENTIALS_INVALID')
  expect(reason(await call('GetMyOrganization', {}, { token: guestToken }))).toBe('ok')
  await act('ReactivateOrganization', {}, there)
  await expect.poll(tryToSignIn, soon).toBe('ok')
  expect(reason(await call('GetMyOrganization', {}, { token }))).toBe('TOKEN_INVALID')
  expect(reason(await call('GetMyOrganization', {}, { token: await signIn(human) }))).toBe('ok')
})

async function give(organization: string, userId: string, projectId: string): Promise<[string, string, string]> {
  const { userGrantId } = await act('AddUserGrant', { userId, projectId, roleKeys: ['reader'] }, admin(organization))
  return [organization, userId, userGrantId]
}
