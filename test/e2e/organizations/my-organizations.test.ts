import type { JsonObject } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { admin, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { call } from '../clients/encodings.ts'

const search = async (token: string, request: JsonObject = {}) =>
  ok(await call('SearchMyOrganizations', request, { token }))

test('a person finds the organizations in which they have a role, by name and in pages, and no others', async () => {
  const [home, managed, worked, foreign] = await Promise.all([
    newOrganization(),
    newOrganization(),
    newOrganization(),
    newOrganization(),
  ])
  const { userId, token } = await newMember(home, ['ORG_OWNER_VIEWER', 'ORG_USER_MANAGER'])
  expect((await search((await newMember(home, [])).token)).organizations ?? []).toEqual([])
  const name = unique('Wörked')
  ok(await call('UpdateOrganization', { name }, admin(worked)))
  ok(await call('AddOrganizationMember', { userId, roles: ['ORG_OWNER'] }, admin(managed)))
  for (const roles of [['PROJECT_OWNER'], ['PROJECT_OWNER', 'PROJECT_OWNER_VIEWER']]) {
    const projectId = await newProject(worked)
    ok(await call('AddProjectMember', { userId, projectId, roles }, admin(worked)))
  }
  const { organizations, nextCursor, total } = await search(token, { withTotal: true })
  const found = organizations.map(rolesIn)
  expect(found).toHaveLength(3)
  expect(found).toEqual(
    expect.arrayContaining([
      [home, ['ORG_OWNER_VIEWER', 'ORG_USER_MANAGER'], []],
      [managed, ['ORG_OWNER'], []],
      [worked, [], ['PROJECT_OWNER', 'PROJECT_OWNER_VIEWER']],
    ]),
  )
  expect([nextCursor ?? '', total]).toEqual(['', 3])
  const byName = { name: { text: name.slice(1).toUpperCase(), method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' } }
  expect((await search(token, byName)).organizations).toMatchObject([{ organizationId: worked, name }])

  const first = await search(token, { limit: 2 })
  const second = await search(token, { limit: 2, cursor: first.nextCursor })
  expect([...first.organizations, ...second.organizations]).toEqual(organizations)

  // One that is deactivated is named, so that people see where they cannot go; one that they leave is not.
  ok(await call('DeactivateOrganization', {}, admin(managed)))
  ok(await call('LeaveOrganization', { orgId: worked }, { token }))
  const left = await search(token)
  expect(left.organizations.map(({ organizationId, state }: Found) => [organizationId, state])).toEqual(
    expect.arrayContaining([
      [home, 'ORGANIZATION_STATE_ACTIVE'],
      [managed, 'ORGANIZATION_STATE_INACTIVE'],
    ]),
  )
  expect(left.organizations).toHaveLength(2)
  expect(JSON.stringify(left)).not.toContain(foreign)
})

interface Found {
  organizationId: string
  state: string
  roles?: string[]
  projectRoles?: string[]
}

const rolesIn = ({ organizationId, roles = [], projectRoles = [] }: Found) => [organizationId, roles, projectRoles]
