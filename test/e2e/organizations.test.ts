import { beforeAll, describe, expect, test } from 'vitest'
import { admin, newHuman, newMember, newOrganization, ok, unique } from '../examples/people.ts'
import { factsOf } from './clients/call.ts'
import { call as json, over } from './clients/encodings.ts'

let home: string
let abroad: string

beforeAll(async () => {
  ;[home, abroad] = await Promise.all([newOrganization(), newOrganization()])
})

async function primaryDomain(organization: string): Promise<string> {
  return ok(await json('GetMyOrganization', {}, admin(organization))).organization.primaryDomain
}

describe.each(over('connect'))('organizations over $encoding', ({ call }) => {
  test('a new one gets a primary domain from its name; a second of that name gets another domain', async () => {
    const name = unique('Über Größen')
    const { organizationId, details } = ok(await call('AddOrganization', { name }, admin()))
    expect(details).toMatchObject({ sequence: '1', creationDate: details.changeDate, resourceOwner: organizationId })
    const { organization } = ok(await call('GetMyOrganization', {}, admin(organizationId)))
    expect(organization).toEqual({
      id: organizationId,
      details,
      state: 'ORGANIZATION_STATE_ACTIVE',
      name,
      primaryDomain: expect.stringMatching(/^uber-gro-en-[0-9a-f]+\./),
    })
    const second = await newOrganization(name)
    expect(await primaryDomain(second)).not.toBe(organization.primaryDomain)
  })

  test('x-service-orgid selects one; without it, the caller’s own organization acts', async () => {
    const owner = await newMember(home, ['ORG_OWNER'])
    expect(ok(await call('GetMyOrganization', {}, owner)).organization.id).toBe(home)
    ok(await json('AddOrganizationMember', { userId: owner.userId, roles: ['ORG_OWNER_VIEWER'] }, admin(abroad)))
    const guest = { token: owner.token, organization: abroad }
    // A new membership counts at once, so that no user waits for a cache.
    await expect
      .poll(async () => (await call('GetMyOrganization', {}, guest)).ok?.organization.id, { timeout: 1000 })
      .toBe(abroad)
    expect(factsOf(await call('AddProject', { name: 'P' }, guest)).reason).toBe('PERMISSION_DENIED')
  })

  test('an unknown organization and one without a permission for the caller give the same 403', async () => {
    const owner = await newMember(home, ['ORG_OWNER'])
    const attempt = (organization: string) => call('GetMyOrganization', {}, { token: owner.token, organization })
    const foreign = await attempt(abroad)
    expect(factsOf(foreign)).toMatchObject({ code: 7, reason: 'PERMISSION_DENIED' })
    for (const organization of ['unknown', 'x'.repeat(300), 'a b', '*', "'"])
      expect((await attempt(organization)).error).toEqual(foreign.error)
    expect((await call('GetMyOrganization', {}, admin('unknown'))).error).toEqual(foreign.error)
  })
})

describe.each(over('json'))('members over $encoding', ({ call }) => {
  const roles = ['ORG_OWNER', 'ORG_USER_MANAGER', 'ORG_OWNER_VIEWER']
  const addMember = async (options: { token: string; organization?: string | undefined }, role: string) =>
    factsOf(await call('AddOrganizationMember', { userId: (await newHuman(home)).userId, roles: [role] }, options))
      .reason

  test('an owner gives every role of the organization, once for each user', async () => {
    const owner = await newMember(home, ['ORG_OWNER'])
    for (const role of roles) expect(await addMember(owner, role)).toBeUndefined()
    const { userId } = await newHuman(abroad)
    const { details } = ok(await call('AddOrganizationMember', { userId, roles }, owner))
    expect(details).toMatchObject({ sequence: '1', resourceOwner: home })
    expect(factsOf(await call('AddOrganizationMember', { userId, roles: ['ORG_OWNER'] }, owner))).toMatchObject({
      code: 6,
      reason: 'MEMBER_EXISTS',
    })
  })

  test('nobody gives a role above the own, and nobody gives any without org.member.write', async () => {
    for (const own of ['ORG_USER_MANAGER', 'ORG_OWNER_VIEWER']) {
      const member = await newMember(home, [own])
      for (const role of roles) expect(await addMember(member, role)).toBe('PERMISSION_DENIED')
    }
    const owner = await newMember(home, ['ORG_OWNER'])
    expect(await addMember(owner, 'IAM_OWNER')).toBe('PERMISSION_DENIED')
    // Nobody can give a role of the instance in an organization, not even a caller that holds it.
    expect(await addMember(admin(home), 'IAM_OWNER')).toBe('VALIDATION_FAILED')
  })
})
