import { beforeAll, describe, expect, test } from 'vitest'
import { admin, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'

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
      organizationId,
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
      .poll(async () => (await call('GetMyOrganization', {}, guest)).ok?.organization.id, { timeout: 5000 })
      .toBe(abroad)
    expect(factsOf(await call('AddProject', { name: 'P' }, guest)).reason).toBe('PERMISSION_DENIED')
  })
})
