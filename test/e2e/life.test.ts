import { describe, expect, test } from 'vitest'
import { admin, newOrganization, ok, profile, unique, uniqueEmail } from '../examples/people.ts'
import { factsOf } from './clients/call.ts'
import { encodings } from './clients/encodings.ts'

// Cascades go on behind the answer, and the machine may be busy.
const soon = { timeout: 30_000 }

// One organization from its first day to its last, as its owner's program would tell it.
describe.each(encodings.filter(({ encoding }) => encoding === 'json' || encoding === 'grpc'))(
  'the whole life of an organization over $encoding',
  ({ call: send }) => {
    const partner = newOrganization(unique('Partner'))
    const names = { first: unique('Acme'), second: unique('Acme Europe') }
    let home = ''
    let project = ''
    let projectGrant = ''
    const ids: Record<string, any> = {}
    const grants: Record<string, any> = {}
    let owner: { token: string; organization: string }

    const own = async (operation: Parameters<typeof send>[0], request: Parameters<typeof send>[1] = {}) =>
      ok(await send(operation, request, owner))
    const root = async (operation: Parameters<typeof send>[0], request: Parameters<typeof send>[1] = {}) =>
      ok(await send(operation, request, admin(home)))
    const reason = async (operation: Parameters<typeof send>[0], request: Parameters<typeof send>[1]) =>
      factsOf(await send(operation, request, owner)).reason
    const userNames = async (...queries: object[]) =>
      (
        (await own('SearchUsers', { queries: queries as never, sortingColumn: 'USER_FIELD_NAME_USER_NAME' })).users ??
        []
      )
        .map(({ userName }: { userName: string }) => userName)
        .join(' ')
    const history = async (userId: string): Promise<string[]> =>
      ((await own('ListUserChanges', { userId })).changes as { type: string }[]).map(({ type }) =>
        type.replace(/^roster\.|\.v1$/g, ''),
      )

    test('it is added, found, renamed, and gets its domain', async () => {
      home = await newOrganization(names.first)
      const found = async (name: string) =>
        (
          ok(
            await send(
              'SearchOrganizations',
              { name: { text: name, method: 'TEXT_QUERY_METHOD_EQUALS_IGNORE_CASE' }, withTotal: true },
              admin(),
            ),
          ).organizations ?? []
        ).map(({ id }: { id: string }) => id)
      expect(await found(names.first.toUpperCase())).toEqual([home])
      await root('UpdateOrganization', { name: names.second })
      expect([await found(names.first), await found(names.second)]).toEqual([[], [home]])
      const { organization } = await root('GetOrganization', { orgId: home })
      const domain = organization.primaryDomain.replace(/^[^.]+/, unique('acme'))
      await root('SetPrimaryDomain', { domain })
      expect((await root('GetMyOrganization')).organization).toMatchObject({
        name: names.second,
        primaryDomain: domain,
        state: 'ORGANIZATION_STATE_ACTIVE',
        details: { sequence: '3' },
      })
    })

    test('its owner comes, and signs in with its domain', async () => {
      const password = unique('Password')
      const userName = unique('owner')
      const human = { userName, profile, email: { email: uniqueEmail(), isVerified: true }, password }
      ids['owner'] = (await root('AddHumanUser', human)).userId
      await root('AddOrganizationMember', { userId: ids['owner'], roles: ['ORG_USER_MANAGER'] })
      await root('UpdateOrganizationMember', { userId: ids['owner'], roles: ['ORG_OWNER'] })
      const { primaryDomain } = (await root('GetMyOrganization')).organization
      const { sessionToken } = await root('CreateSession', { loginName: `${userName}@${primaryDomain}`, password })
      owner = { token: sessionToken, organization: home }
      expect((await own('GetMyUser')).user).toMatchObject({ userId: ids['owner'], userName })
      expect((await own('GetMyPermissions')).permissions).toContain('org.write')
      expect((await own('SearchMySessions')).sessions).toHaveLength(1)
      const { members } = await own('SearchOrganizationMembers')
      expect(members).toMatchObject([{ userId: ids['owner'], roles: ['ORG_OWNER'] }])
    })

    test('people and machines come, are found, corrected, shut out and let in again', async () => {
      for (const name of ['ann', 'bob', 'cid']) {
        const human = { userName: name, profile: { ...profile, lastName: `${name}son` }, email: { email: `${name}@example.org`, isVerified: true } } // prettier-ignore
        ids[name] = (await own('AddHumanUser', human)).userId
      }
      const { results } = await own('BulkAddUsers', {
        users: [
          { machine: { userName: 'robot', name: 'Robot' } },
          { machine: { userName: 'BOB', name: 'Another Bob' } },
          { machine: { userName: 'relay', name: 'Relay' } },
        ],
      })
      expect(results.map((result: object) => ('done' in result ? 'done' : 'error'))).toEqual(['done', 'error', 'done'])
      ids['robot'] = results[0].done.id
      const within = (text: string) => ({ userNameQuery: { userName: text, method: 'TEXT_QUERY_METHOD_CONTAINS' } })
      const machine = { typeQuery: { type: 'TYPE_MACHINE' } }
      expect(await userNames(within('o'), { notQuery: { query: machine } })).toMatch(/^bob owner-/)
      expect(await userNames(machine)).toBe('relay robot')
      const lastName = (text: string) => ({ lastNameQuery: { lastName: text, method: 'TEXT_QUERY_METHOD_EQUALS' } })
      expect(await userNames({ orQuery: { queries: [lastName('annson'), lastName('cidson')] } })).toBe('ann cid')

      expect((await own('IsUserUnique', { userName: 'Anna' })).isUnique).toBe(true)
      await own('UpdateUserName', { userId: ids['ann'], userName: 'anna' })
      expect((await own('IsUserUnique', { userName: 'Anna' })).isUnique ?? false).toBe(false)
      await own('UpdateHumanProfile', { userId: ids['ann'], firstName: 'Anna' })
      await own('UpdateMachine', { userId: ids['robot'], description: 'Waters the plants' })
      await own('SetEmail', { userId: ids['ann'], email: 'anna@example.org', isVerified: true })
      await own('SetPassword', { userId: ids['ann'], newPassword: { password: unique('Password') } })
      await own('DeactivateUser', { userId: ids['bob'] })
      const inactive = { stateQuery: { state: 'USER_STATE_INACTIVE' } }
      expect(await userNames(inactive)).toBe('bob')
      await own('ReactivateUser', { userId: ids['bob'] })
      expect(await userNames(inactive)).toBe('')
      expect((await own('GetUser', { userId: ids['ann'] })).user).toMatchObject({
        userName: 'anna',
        human: { profile: { firstName: 'Anna', lastName: 'annson' }, email: { email: 'anna@example.org' } },
      })
      expect(await history(ids['bob'])).toEqual(['user.reactivated', 'user.deactivated', 'user.human.added'])
      const ann = await history(ids['ann'])
      for (const type of ['user.profile.changed', 'user.email.changed', 'user.human.added']) expect(ann).toContain(type)
    })

    test('a project begins, with roles and members, and is granted to a partner', async () => {
      project = (await own('AddProject', { name: 'Shop' })).id
      await own('UpdateProject', { projectId: project, name: 'Web shop' })
      const role = (roleKey: string) => ({ key: roleKey, displayName: roleKey })
      await own('BulkAddProjectRoles', { projectId: project, roles: ['buyer', 'seller', 'auditor'].map(role) })
      await own('UpdateProjectRole', { projectId: project, roleKey: 'auditor', displayName: 'Reads the books' })
      const { roles } = await own('SearchProjectRoles', { projectId: project })
      expect(roles.map(({ key, roleKey = key }: Record<string, string>) => roleKey).sort()).toEqual([
        'auditor',
        'buyer',
        'seller',
      ])
      const { projects } = await own('SearchProjects', { name: { text: 'web', method: 'TEXT_QUERY_METHOD_STARTS_WITH_IGNORE_CASE' } }) // prettier-ignore
      expect(projects).toMatchObject([{ id: project, name: 'Web shop' }])
      await own('AddProjectMember', { projectId: project, userId: ids['ann'], roles: ['PROJECT_OWNER_VIEWER'] })
      await own('UpdateProjectMember', { projectId: project, userId: ids['ann'], roles: ['PROJECT_OWNER'] })
      expect((await own('SearchProjectMembers', { projectId: project })).members).toMatchObject([
        { userId: ids['ann'] },
      ])
      const granted = { projectId: project, grantedOrgId: await partner, roleKeys: ['buyer', 'auditor'] }
      projectGrant = (await own('AddProjectGrant', granted)).grantId
      const seen = ok(await send('SearchGrantedProjects', {}, admin(await partner)))
      expect(JSON.stringify(seen)).toContain(projectGrant)
    })

    test('people get roles, here and at the partner; who may do what is one question each', async () => {
      const give = async (userId: string, roleKeys: string[], options = owner as Parameters<typeof send>[2]) =>
        ok(await send('AddUserGrant', { userId, projectId: project, roleKeys }, options)).userGrantId as string
      grants['ann'] = await give(ids['ann'], ['seller'])
      grants['bob'] = await give(ids['bob'], ['seller', 'buyer'])
      grants['guest'] = await give(ids['cid'], ['auditor'], admin(await partner))
      await own('UpdateUserGrant', { userId: ids['ann'], grantId: grants['ann'], roleKeys: ['seller', 'auditor'] })
      const holders = async (roleKey: string): Promise<string[]> =>
        JSON.stringify(await own('SearchRoleHolders', { projectId: project, roleKey })).match(/"userId":"[^"]+"/g) ?? []
      expect(await holders('seller')).toHaveLength(2)
      expect(await holders('buyer')).toHaveLength(1)
      expect(JSON.stringify(await own('ListUserRoles', { projectId: project, userId: ids['ann'] }))).toContain(
        'auditor',
      )
      await own('DeactivateUserGrant', { userId: ids['ann'], grantId: grants['ann'] })
      expect(JSON.stringify(await own('ListUserRoles', { projectId: project, userId: ids['ann'] }))).not.toContain(
        'auditor',
      )
      await own('ReactivateUserGrant', { userId: ids['ann'], grantId: grants['ann'] })
      const found = await own('SearchUserGrants', { projectId: project, roleKey: 'seller', withTotal: true })
      expect([found.userGrants.length, found.total]).toEqual([2, 2])
    })

    test('a role that is taken away goes from everybody who had it', async () => {
      await own('RemoveProjectRole', { projectId: project, roleKey: 'auditor' })
      const grant = (userId: string, grantId: string, options: Parameters<typeof send>[2] = owner) =>
        send('GetUserGrant', { userId, grantId }, options)
      await expect
        .poll(async () => ok(await grant(ids['ann'], grants['ann'])).userGrant.roleKeys, soon)
        .toEqual(['seller'])
      const partners = admin(await partner)
      await expect
        .poll(async () => factsOf(await grant(ids['cid'], grants['guest'], partners)).reason, soon)
        .toBe('USER_GRANT_NOT_FOUND')
      // The project's grants and the users' lose it each by a follower of its own.
      await expect
        .poll(
          async () =>
            (await own('GetProjectGrant', { projectId: project, grantId: projectGrant })).projectGrant.grantedRoleKeys,
          soon,
        ) // prettier-ignore
        .toEqual(['buyer'])
    })

    test('it has an identity provider of its own', async () => {
      const added = { name: 'Sign in with Acme', clientId: 'c', clientSecret: unique('secret'), issuer: 'https://acme.example', scopes: ['openid'] } // prettier-ignore
      ids['idp'] = (await own('AddOrganizationOIDCIDP', added)).idpId
      await own('DeactivateOrganizationIDP', { idpId: ids['idp'] })
      const { idps } = await own('SearchOrganizationIDPs')
      expect(idps).toMatchObject([{ id: ids['idp'], state: 'IDP_STATE_INACTIVE' }])
    })

    test('closed for a while, its people stay outside', async () => {
      await root('DeactivateOrganization')
      const me = () => send('GetMyUser', {}, owner)
      await expect.poll(async () => factsOf(await me()).reason, { timeout: 1000 }).toBe('TOKEN_INVALID')
      await root('ReactivateOrganization')
      await expect.poll(async () => factsOf(await me()).reason, { timeout: 1000 }).not.toBe('PERMISSION_DENIED')
    })

    test('objects go one by one', async () => {
      owner = admin(home) as typeof owner
      await own('RemoveUserGrant', { userId: ids['bob'], grantId: grants['bob'] })
      expect(await reason('GetUserGrant', { userId: ids['bob'], grantId: grants['bob'] })).toBe('USER_GRANT_NOT_FOUND')
      await own('RemoveProjectGrant', { projectId: project, grantId: projectGrant })
      await own('RemoveProjectMember', { projectId: project, userId: ids['ann'] })
      await own('DeactivateProject', { projectId: project })
      await own('RemoveProject', { projectId: project })
      expect(await reason('GetProject', { projectId: project })).toBe('PROJECT_NOT_FOUND')
      await expect
        .poll(async () => (await own('SearchUserGrants', { projectId: project })).userGrants ?? [], soon)
        .toEqual([])
      await own('DeleteUser', { userId: ids['cid'] })
      expect(await userNames({ userNameQuery: { userName: 'cid', method: 'TEXT_QUERY_METHOD_EQUALS' } })).toBe('')
      await own('RemoveOrganizationMember', { userId: ids['owner'] })
    })

    test('and in the end everything goes with it', async () => {
      ok(await send('RemoveOrganization', { orgId: home }, admin()))
      const gone = factsOf(await send('GetOrganization', { orgId: home }, admin()))
      expect(gone.reason).toBe('ORGANIZATION_NOT_FOUND')
      for (const name of ['ann', 'bob', 'robot', 'owner'])
        await expect
          .poll(async () => factsOf(await send('GetUser', { userId: ids[name] }, admin())).reason, soon)
          .toBe('USER_NOT_FOUND')
      expect(factsOf(await send('GetMyOrganization', {}, admin(home))).code).toBe(7)
    })
  },
)
