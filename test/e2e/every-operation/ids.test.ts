import type { JsonObject } from '@bufbuild/protobuf'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../examples/contract.ts'
import { admin, newHuman, newMachine, newOrganization, ok, signIn, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, encodings, over } from '../clients/encodings.ts'

let home: string
let abroad: string
let userId: string

// For each encoding, so that lists begin with what it made.
async function prepare() {
  ;[home, abroad] = await Promise.all([newOrganization(), newOrganization()])
  userId = await newMachine(home)
}

describe.each(over('json'))('over $encoding', ({ call }) => {
  beforeAll(prepare)

  test('what makes a thing and what finds it call its id the same', async () => {
    const act = async (operation: Operation, request: JsonObject, organization = home) =>
      ok(await call(operation, request, admin(organization)))
    const { projectId } = await act('AddProject', { name: unique('Project') })
    await act('AddProjectRole', { projectId, roleKey: 'reader', displayName: 'Reader' })
    await act('BulkAddProjectRoles', { projectId, roles: [{ roleKey: 'writer', displayName: 'Writer' }] })
    const { roles } = await act('SearchProjectRoles', { projectId })
    expect(roles.map(({ roleKey }: { roleKey: string }) => roleKey)).toEqual(['reader', 'writer'])
    const { appId } = await act('AddAPIApplication', { projectId, name: unique('Application') })
    const { projectGrantId } = await act('AddProjectGrant', { projectId, grantedOrgId: abroad, roleKeys: ['reader'] })
    const grant = { userId, projectId, projectGrantId, roleKeys: ['reader'] }
    const { userGrantId } = await act('AddUserGrant', grant, abroad)
    const { organizationId } = await act('AddOrganization', { name: unique('Organization') })
    const { webhookId } = await act('AddWebhook', { url: 'https://example.com/hook' })
    const idp = { clientId: 'client', clientSecret: unique('secret'), issuer: 'https://issuer.example.com' }
    const { idpId } = await act('AddOrganizationOIDCIDP', { name: unique('Provider'), ...idp })

    const found = [
      (await act('GetProject', { projectId })).project,
      (await act('SearchProjects', {})).projects[0],
      (await act('GetApplication', { projectId, appId })).application,
      (await act('SearchApplications', { projectId })).applications[0],
      (await act('GetProjectGrant', { projectId, projectGrantId })).projectGrant,
      (await act('SearchProjectGrants', { projectId })).projectGrants[0],
      (await act('GetGrantedProject', { projectId, projectGrantId }, abroad)).grantedProject,
      (await act('GetUserGrant', { userId, userGrantId }, abroad)).userGrant,
      (await act('SearchUserGrants', { projectId }, abroad)).userGrants[0],
      (await act('SearchRoleHolders', { projectId, roleKey: 'reader' })).holders[0],
      (await act('ListUserRoles', { projectId, userId })).grants[0],
      (await act('GetOrganization', { organizationId })).organization,
      (await act('GetMyOrganization', {}, organizationId)).organization,
      (await act('GetWebhook', { webhookId })).webhook,
      (await act('ListWebhooks', {})).webhooks[0],
      (await act('GetOrganizationIDP', { idpId })).idp,
      (await act('SearchOrganizationIDPs', {})).idps[0],
    ]
    const own = [
      { projectId },
      { projectId },
      { appId },
      { appId },
      { projectGrantId },
      { projectGrantId },
      { projectGrantId },
      { userGrantId },
      { userGrantId },
      { userGrantId },
      { userGrantId },
      { organizationId },
      { organizationId },
      { webhookId },
      { webhookId },
      { idpId },
      { idpId },
    ]
    expect(found).toEqual(own.map((ids) => expect.objectContaining(ids)))
    // As it was before.
    const former = found.map(({ id, grantId }: { id?: string; grantId?: string }) => id ?? grantId)
    expect(former).toEqual(own.map((ids) => Object.values(ids)[0]))
    expect(roles.map(({ key }: { key: string }) => key)).toEqual(['reader', 'writer'])
  })

  test('a session has the name under which it is made, in every answer', async () => {
    const { userName, password, ...human } = await newHuman(home, { password: unique('Password') })
    const { sessionId } = ok(await call('CreateSession', { loginName: userName, password }))
    const asked = { userId: human.userId }
    const answers = [
      ok(await call('GetSession', { sessionId }, admin())).session,
      ok(await call('SearchSessions', asked, admin())).sessions[0],
      ok(await call('SearchUserSessions', asked, admin())).sessions[0],
    ]
    for (const session of answers) expect(session).toMatchObject({ id: sessionId, sessionId })
  })

  test('a password is a text of the same name in every request that sets or changes one', async () => {
    const human = await newHuman(home, { password: unique('Password') })
    const signsIn = async (password: string) =>
      factsOf(await call('CreateSession', { loginName: human.userName, password })).code === 0
    let currentPassword = human.password
    const token = await signIn(human)
    const changes: [Operation, JsonObject, string | undefined][] = [
      ['UpdateMyPassword', {}, token],
      ['SetPassword', { userId: human.userId }, token],
    ]
    for (const [operation, request, caller] of changes) {
      const password = unique('Password')
      ok(await call(operation, { ...request, password, currentPassword }, { token: caller }))
      expect([await signsIn(password), await signsIn(currentPassword)]).toEqual([true, false])
      currentPassword = password
    }
    const { verificationCode } = ok(await call('PasswordReset', { userId: human.userId, returnCode: {} }, admin(home)))
    const password = unique('Password')
    ok(await call('ResetPassword', { userId: human.userId, verificationCode, password }))
    expect(await signsIn(password)).toBe(true)
  })

  test('a fault is told by the name that the request has', async () => {
    const human = await newHuman(home, { password: unique('Password') })
    const token = await signIn(human)
    const fieldsOf = async (operation: Operation, request: JsonObject, caller: { token: string } = admin(home)) => {
      const { code, fields } = factsOf(await call(operation, request, caller))
      expect(code).toBe(3)
      // A text may break several rules.
      return [...new Set(fields)]
    }
    const own = { token }
    const password = unique('Password')
    expect(await fieldsOf('UpdateMyPassword', { password: 'short', currentPassword: '' }, own)).toEqual(
      expect.arrayContaining(['password', 'currentPassword']),
    )
    expect(await fieldsOf('UpdateMyPassword', { password, currentPassword: 'wrong-one' }, own)).toEqual([
      'currentPassword',
    ])
    expect(await fieldsOf('SetPassword', { userId: human.userId, password: 'short' })).toEqual(['password'])
    expect(await fieldsOf('BulkRemoveUserGrants', { userGrantIds: ['x', ''] })).toEqual(['userGrantIds[1]'])
    const roles = [
      { key: 'a', displayName: 'A' },
      { roleKey: ' ', displayName: 'B' },
    ]
    expect(await fieldsOf('BulkAddProjectRoles', { projectId: 'p', roles })).toEqual(['roles[1].roleKey'])
    expect(await fieldsOf('AddOrganization', { name: 'O', organizationId: 'a b' })).toEqual(['organizationId'])
  })
})

describe.each(encodings)('two names of one field over $encoding', ({ call }) => {
  test('may have one value, and with two they are refused by both names, before anything else', async () => {
    const projectId = await newProject(home, ['reader'])
    const { userGrantId } = ok(await json('AddUserGrant', { userId, projectId, roleKeys: ['reader'] }, admin(home)))
    const facts = async (operation: Operation, request: JsonObject) => {
      const { reason, fields } = factsOf(await call(operation, request, admin(home)))
      return [reason, fields]
    }
    for (const ids of [{ userGrantId }, { grantId: userGrantId }, { userGrantId, grantId: userGrantId }])
      expect(ok(await call('GetUserGrant', { userId, ...ids }, admin(home))).userGrant.userGrantId).toBe(userGrantId)
    const both = { userId, userGrantId, grantId: 'another' }
    expect(await facts('GetUserGrant', both)).toEqual(['REQUEST_MALFORMED', ['userGrantId', 'grantId']])
    expect(await facts('RemoveUserGrant', both)).toEqual(['REQUEST_MALFORMED', ['userGrantId', 'grantId']])
    expect(await facts('AddOrganization', { name: 'O', organizationId: unique('o'), orgId: unique('o') })).toEqual([
      'REQUEST_MALFORMED',
      ['organizationId', 'orgId'],
    ])
    const change = { userId, password: unique('Password'), newPassword: { password: unique('Password') } }
    expect(await facts('SetPassword', change)).toEqual(['REQUEST_MALFORMED', ['password', 'newPassword.password']])
    const roles = [{ key: 'a', roleKey: 'b', displayName: 'A' }]
    expect(await facts('BulkAddProjectRoles', { projectId, roles })).toEqual([
      'REQUEST_MALFORMED',
      ['roles[0].roleKey', 'roles[0].key'],
    ])
    const lists = { userGrantIds: [userGrantId, 'x'], grantIds: [userGrantId] }
    expect(await facts('BulkRemoveUserGrants', lists)).toEqual(['REQUEST_MALFORMED', ['userGrantIds', 'grantIds']])
    const { results } = ok(await call('BulkRemoveUserGrants', { userGrantIds: [userGrantId] }, admin(home)))
    expect(results[0].done.id).toBe(userGrantId)
  })
})
