import { beforeAll, describe, expect, test } from 'vitest'
import { admin, newHuman, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'

let home: string
let abroad: string
let userId: string

beforeAll(async () => {
  ;[home, abroad] = await Promise.all([newOrganization(), newOrganization()])
  ;({ userId } = await newHuman(home))
})

const reason = (answer: Parameters<typeof factsOf>[0]) => factsOf(answer).reason ?? 'ok'

describe.each(over('json'))('a chosen id over $encoding', ({ call }) => {
  const act = (...[operation, request]: Parameters<typeof call>) => call(operation, request, admin(home))

  test('is the id of the organization, and no other one ever gets it', async () => {
    const [orgId, name] = [unique('org'), unique('Organization')]
    const { organizationId, details } = ok(await call('AddOrganization', { name, orgId }, admin()))
    expect([organizationId, details.resourceOwner]).toEqual([orgId, orgId])
    expect(ok(await call('GetMyOrganization', {}, admin(orgId))).organization).toMatchObject({ id: orgId, name })
    expect(reason(await call('AddOrganization', { name: 'O', orgId }, admin()))).toBe('ORGANIZATION_ID_TAKEN')
    ok(await call('RemoveOrganization', { orgId }, admin()))
    expect(reason(await call('AddOrganization', { name: 'O', orgId }, admin()))).toBe('ORGANIZATION_ID_TAKEN')
  })

  test('two organizations of one name whose ids begin alike have different domains', async () => {
    const [id, name] = [unique('31415926'), unique('Twin')]
    for (const orgId of [`${id}-1`, `${id}-2`, `${id}-3`]) ok(await call('AddOrganization', { name, orgId }, admin()))
  })

  test('is the id of the project, of its grant and of a user grant, and no other one ever gets it', async () => {
    const [projectId, grantId, userGrantId] = [unique('project'), unique('grant'), unique('user-grant')]
    expect(ok(await act('AddProject', { name: 'P', projectId })).id).toBe(projectId)
    const granted = { projectId, grantedOrgId: abroad, grantId }
    expect(ok(await act('AddProjectGrant', granted)).grantId).toBe(grantId)
    expect(ok(await act('AddUserGrant', { userId, projectId, userGrantId })).userGrantId).toBe(userGrantId)

    const other = await newProject(home)
    const again = async () => [
      reason(await act('AddProject', { name: 'P', projectId })),
      reason(await act('AddProjectGrant', { ...granted, projectId: other })),
      reason(await act('AddUserGrant', { userId, projectId: other, userGrantId })),
    ]
    const taken = ['PROJECT_ID_TAKEN', 'PROJECT_GRANT_ID_TAKEN', 'USER_GRANT_ID_TAKEN']
    expect(await again()).toEqual(taken)
    ok(await act('RemoveUserGrant', { userId, grantId: userGrantId }))
    ok(await act('RemoveProjectGrant', { projectId, grantId }))
    ok(await act('RemoveProject', { projectId }))
    expect(await again()).toEqual(taken)
  })

  test('is the id of the application and, where none is chosen, its client id', async () => {
    const projectId = await newProject(home)
    for (const add of ['AddOIDCApplication', 'AddAPIApplication'] as const) {
      const [appId, other] = [unique('app'), unique('app')]
      const named = { projectId, name: 'A' }
      expect(ok(await act(add, { ...named, appId }))).toMatchObject({ appId, clientId: appId })
      const both = ok(await act(add, { ...named, appId: other, clientId: `of-${other}` }))
      expect(both).toMatchObject({ appId: other, clientId: `of-${other}` })
      ok(await act('RemoveApplication', { projectId, appId }))
      expect(reason(await act(add, { ...named, appId, clientId: unique('c') }))).toBe('APPLICATION_ID_TAKEN')
    }
  })

  test('in a bulk is that of its item, once', async () => {
    const [projectId, other] = [await newProject(home), await newProject(home)]
    const userGrantId = unique('bulk')
    const items = [
      { userId, projectId, userGrantId },
      { userId, projectId: other, userGrantId },
      { userId, projectId: other },
    ]
    const { results } = ok(await act('BulkAddUserGrants', { userGrants: items }))
    expect(results[0].done.id).toBe(userGrantId)
    expect(results[1].error.details[0].reason).toBe('USER_GRANT_ID_TAKEN')
    expect(results[2].done).toBeDefined()
  })

  test('needs the permission on the instance: the owner of the organization has it there alone', async () => {
    const { token } = await newMember(home, ['ORG_OWNER'])
    const asOwner = (...[operation, request]: Parameters<typeof call>) => call(operation, request, { token })
    const [projectId, project] = [unique('squatted'), await newProject(home)]
    expect(reason(await asOwner('AddProject', { name: 'P', projectId }))).toBe('PERMISSION_DENIED')
    expect(reason(await json('AddProject', { name: 'P', projectId }, admin(abroad)))).toBe('ok')
    // Nothing shows the owner that the id is in use elsewhere.
    expect(reason(await asOwner('AddProject', { name: 'P', projectId }))).toBe('PERMISSION_DENIED')
    const application = { projectId: project, name: 'A', appId: unique('app') }
    expect(reason(await asOwner('AddAPIApplication', application))).toBe('PERMISSION_DENIED')
    const granted = { projectId: project, grantedOrgId: abroad, grantId: unique('g') }
    expect(reason(await asOwner('AddProjectGrant', granted))).toBe('PERMISSION_DENIED')
    const given = { userId, projectId: project, userGrantId: unique('g') }
    expect(reason(await asOwner('AddUserGrant', given))).toBe('PERMISSION_DENIED')
  })
})
