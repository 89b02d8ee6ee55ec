import { expect } from 'vitest'
import { unique, uniqueEmail } from '../../examples/people.ts'
import { found } from './terraform-found.ts'
import type { Place, TerraformKind } from './terraform-kind.ts'
import { terraformProviders } from './terraform-providers.ts'

const unimplemented = 12

/** A method of ZITADEL's version 2, and the older one that it falls back to where the server does not have that. */
async function orLegacy(newer: (() => Promise<unknown>) | undefined, legacy: () => Promise<unknown>): Promise<unknown> {
  try {
    return newer ? await newer() : await legacy()
  } catch (error) {
    if ((error as { code?: number }).code !== unimplemented) throw error
    return legacy()
  }
}

const api = (place: Place) => place.in(place.organization).management as Record<string, any>
const users = (place: Place) => place.in(place.organization).user as Record<string, any>
const only = (list: Promise<any>) => list.then(({ result }) => (result.length === 1 ? result[0] : undefined))

const member = (kind: string, of: string, service: 'management' | 'admin', roles: [string, string]): TerraformKind => {
  const clients = (place: Place) => place.in(service === 'admin' ? '' : place.organization)[service] as any
  const where = (place: Place) => (of === 'Project' ? { projectId: place.project } : {})
  const who = (place: Place) => ({ ...where(place), userId: place.machine })
  const byUser = (userId: string) => [{ query: { case: 'userIdQuery', value: { userId } } }]
  return {
    kind,
    async create(place) {
      await clients(place)[`add${of}Member`]({ ...who(place), roles: [roles[0]] })
      return place.machine
    },
    read: (place, id) => only(clients(place)[`list${of}Members`]({ ...where(place), queries: byUser(id) })),
    created: { roles: [roles[0]] },
    update: (place) => clients(place)[`update${of}Member`]({ ...who(place), roles: [roles[1]] }),
    updated: { roles: [roles[1]] },
    remove: (place) => clients(place)[`remove${of}Member`](who(place)),
  }
}

const tomorrow = { seconds: BigInt(Math.floor(Date.now() / 1000) + 86_400), nanos: 0 }

export const terraformKinds: TerraformKind[] = [
  {
    kind: 'zitadel_org',
    create: async (place) =>
      (await (place.in('').org as any).addOrganization({ name: unique('tf'), admins: [] })).organizationId,
    async read(place, id) {
      // Whether it is the default one, with each read.
      const org = await found((place.in('').admin as any).getOrgByID({ id }), 'org')
      const { org: first } = await (place.in('').admin as any).getDefaultOrg({})
      return org && { ...org, isDefault: first.id === id }
    },
    created: { state: 1, isDefault: false },
    update: (place, id) =>
      orLegacy(
        (place.in('').org as any).updateOrganization?.bind(undefined, { organizationId: id, name: `${id}-2` }),
        () => (place.in(id).management as any).updateOrg({ name: `${id}-2` }),
      ),
    updated: { name: expect.stringMatching(/-2$/) },
    remove: (place, id) =>
      orLegacy((place.in('').org as any).deleteOrganization?.bind(undefined, { organizationId: id }), () =>
        (place.in('').admin as any).removeOrg({ orgId: id }),
      ),
  },
  {
    kind: 'zitadel_domain',
    async create(place) {
      const domain = `${unique('tf')}.example`
      await api(place)['addOrgDomain']({ domain })
      return domain
    },
    read: (place, name) =>
      only(api(place)['listOrgDomains']({ queries: [{ query: { case: 'domainNameQuery', value: { name } } }] })),
    created: { isVerified: false, isPrimary: false },
    update: (place, domain) => api(place)['setPrimaryOrgDomain']({ domain }),
    updated: { isVerified: false, isPrimary: true },
    async remove(place, domain) {
      // Another verified one below the provider's host would become the primary one.
      await api(place)['listOrgDomains']({})
      await api(place)['removeOrgDomain']({ domain })
    },
  },
  {
    kind: 'zitadel_project',
    create: async (place) =>
      (
        await api(place)['addProject']({
          name: 'p',
          projectRoleAssertion: true,
          projectRoleCheck: true,
          hasProjectCheck: true,
          privateLabelingSetting: 0,
        })
      ).id,
    read: (place, id) => found(api(place)['getProjectByID']({ id }), 'project'),
    created: { name: 'p', projectRoleAssertion: true, projectRoleCheck: true, hasProjectCheck: true, state: 1 },
    update: (place, id) => api(place)['updateProject']({ id, name: 'p2', hasProjectCheck: false }),
    updated: { name: 'p2', projectRoleAssertion: false, projectRoleCheck: false, hasProjectCheck: false },
    remove: (place, id) => api(place)['removeProject']({ id }),
  },
  {
    kind: 'zitadel_project_role',
    async create(place) {
      const role = { projectId: place.project, roleKey: 'super-user', displayName: 'd', group: 'g' }
      await api(place)['addProjectRole'](role)
      return 'super-user'
    },
    read(place, key) {
      const queries = [{ query: { case: 'keyQuery', value: { key, method: 0 } } }]
      return only(api(place)['listProjectRoles']({ projectId: place.project, queries }))
    },
    created: { key: 'super-user', displayName: 'd', group: 'g' },
    update: (place, roleKey) =>
      api(place)['updateProjectRole']({ projectId: place.project, roleKey, displayName: 'd2', group: '' }),
    updated: { key: 'super-user', displayName: 'd2', group: '' },
    remove: (place, roleKey) => api(place)['removeProjectRole']({ projectId: place.project, roleKey }),
  },
  {
    kind: 'zitadel_project_grant',
    async create(place) {
      const granted = { projectId: place.project, grantedOrgId: place.guest, roleKeys: ['reader'] }
      return (await api(place)['addProjectGrant'](granted)).grantId
    },
    read: (place, grantId) =>
      found(api(place)['getProjectGrantByID']({ projectId: place.project, grantId }), 'projectGrant'),
    created: { grantedRoleKeys: ['reader'] },
    update: (place, grantId) =>
      api(place)['updateProjectGrant']({ projectId: place.project, grantId, roleKeys: ['writer'] }),
    updated: { grantedRoleKeys: ['writer'] },
    remove: (place, grantId) => api(place)['removeProjectGrant']({ projectId: place.project, grantId }),
  },
  ...(['oidc', 'api'] as const).map((type): TerraformKind => {
    const app = (place: Place, appId: string) => ({ projectId: place.project, appId })
    const oidc = {
      redirectUris: ['https://localhost.com'],
      responseTypes: [0],
      grantTypes: [0],
      appType: 0,
      authMethodType: 0,
      postLogoutRedirectUris: [],
      devMode: false,
      accessTokenType: 0,
      accessTokenRoleAssertion: false,
      idTokenRoleAssertion: false,
      idTokenUserinfoAssertion: false,
      clockSkew: { seconds: 0n, nanos: 0 },
      additionalOrigins: [],
      skipNativeAppSuccessPage: false,
      backChannelLogoutUri: '',
    }
    const [add, update, config] =
      type === 'oidc'
        ? (['addOIDCApp', 'updateOIDCAppConfig', oidc] as const)
        : (['addAPIApp', 'updateAPIAppConfig', { authMethodType: 0 }] as const)
    const changed = type === 'oidc' ? { redirectUris: ['https://localhost.com/2'] } : { authMethodType: 1 }
    const shown = (value: object) => ({ config: { case: `${type}Config`, value } })
    return {
      kind: `zitadel_application_${type}`,
      create: async (place) => (await api(place)[add]({ projectId: place.project, name: 'app', ...config })).appId,
      read: (place, id) => found(api(place)['getAppByID'](app(place, id)), 'app'),
      created: {
        name: 'app',
        state: 1,
        ...shown(type === 'oidc' ? { redirectUris: oidc.redirectUris } : { authMethodType: 0 }),
      },
      async update(place, id) {
        await api(place)['updateApp']({ ...app(place, id), name: 'app2' })
        await api(place)[update]({ ...app(place, id), ...config, ...changed })
      },
      updated: { name: 'app2', ...shown(changed) },
      remove: (place, id) => api(place)['removeApp'](app(place, id)),
    }
  }),
  {
    kind: 'zitadel_human_user',
    create: async (place) =>
      (
        await users(place)['createUser']({
          organizationId: place.organization,
          username: unique('h'),
          userType: {
            case: 'human',
            value: {
              profile: {
                givenName: 'F',
                familyName: 'L',
                nickName: 'N',
                displayName: 'F L',
                preferredLanguage: 'de',
                gender: 2,
              },
              email: { email: uniqueEmail(), verification: { case: 'isVerified', value: true } },
              passwordType: {
                case: 'password',
                value: { password: 'Secret-Password1!', changeRequired: false },
              },
            },
          },
        })
      ).id,
    read: (place, userId) => found(users(place)['getUserByID']({ userId }), 'user'),
    created: human('F', true),
    async update(place, userId) {
      const profile = {
        firstName: 'G',
        lastName: 'L',
        nickName: 'N',
        displayName: 'F L',
        preferredLanguage: 'de',
        gender: 2,
      }
      const email = uniqueEmail()
      const person = { profile: { givenName: 'G' }, email: { email } }
      await orLegacy(
        users(place)['updateUser']?.bind(undefined, { userId, userType: { case: 'human', value: person } }),
        async () => {
          await api(place)['updateUserName']({ userId, userName: unique('renamed') })
          await api(place)['updateHumanProfile']({ userId, ...profile })
          await api(place)['updateHumanEmail']({ userId, email, isEmailVerified: false })
        },
      )
    },
    updated: human('G', false),
    remove: (place, userId) => users(place)['deleteUser']({ userId }),
  },
  {
    kind: 'zitadel_machine_user',
    async create(place) {
      const machine = { name: 'name', description: 'd' }
      const userType = { case: 'machine', value: machine }
      const request = { organizationId: place.organization, username: unique('m'), userType }
      const { id } = await users(place)['createUser'](request)
      await api(place)['updateMachine']({ userId: id, ...machine, accessTokenType: 1 })
      await api(place)['generateMachineSecret']({ userId: id })
      return id
    },
    read: (place, userId) => found(users(place)['getUserByID']({ userId }), 'user'),
    created: { type: { case: 'machine', value: { name: 'name', description: 'd', accessTokenType: 1 } } },
    async update(place, userId) {
      await api(place)['updateMachine']({ userId, name: 'name', description: '', accessTokenType: 0 })
      await api(place)['removeMachineSecret']({ userId })
    },
    updated: { type: { case: 'machine', value: { name: 'name', description: '', accessTokenType: 0 } } },
    remove: (place, userId) => users(place)['deleteUser']({ userId }),
  },
  {
    kind: 'zitadel_user_grant',
    create: async (place) =>
      (
        await api(place)['addUserGrant']({
          userId: place.machine,
          projectId: place.project,
          projectGrantId: '',
          roleKeys: ['reader'],
        })
      ).userGrantId,
    read: (place, grantId) => found(api(place)['getUserGrantByID']({ userId: place.machine, grantId }), 'userGrant'),
    created: { roleKeys: ['reader'] },
    update: (place, grantId) => api(place)['updateUserGrant']({ userId: place.machine, grantId, roleKeys: ['writer'] }),
    updated: { roleKeys: ['writer'] },
    remove: (place, grantId) => api(place)['removeUserGrant']({ userId: place.machine, grantId }),
  },
  member('zitadel_org_member', 'Org', 'management', ['ORG_OWNER', 'ORG_USER_MANAGER']),
  member('zitadel_project_member', 'Project', 'management', ['PROJECT_OWNER', 'PROJECT_OWNER_VIEWER']),
  member('zitadel_instance_member', 'IAM', 'admin', ['IAM_OWNER_VIEWER', 'IAM_USER_MANAGER']),
  {
    kind: 'zitadel_machine_key',
    create: async (place) =>
      (await api(place)['addMachineKey']({ userId: place.machine, type: 1, expirationDate: tomorrow })).keyId,
    read: (place, keyId) => found(api(place)['getMachineKeyByIDs']({ userId: place.machine, keyId }), 'key'),
    created: { type: 1, expirationDate: tomorrow },
    remove: (place, keyId) => api(place)['removeMachineKey']({ userId: place.machine, keyId }),
    importedById: true,
  },
  {
    kind: 'zitadel_personal_access_token',
    create: async (place) =>
      (await api(place)['addPersonalAccessToken']({ userId: place.machine, expirationDate: tomorrow })).tokenId,
    read: (place, tokenId) =>
      found(api(place)['getPersonalAccessTokenByIDs']({ userId: place.machine, tokenId }), 'token'),
    created: { expirationDate: tomorrow },
    remove: (place, tokenId) => api(place)['removePersonalAccessToken']({ userId: place.machine, tokenId }),
    importedById: true,
  },
  {
    kind: 'zitadel_org_idp_jwt',
    create: async (place) => (await api(place)['addOrgJWTIDP'](jwtProvider('jwt'))).idpId,
    read: (place, id) => found(api(place)['getOrgIDPByID']({ id }), 'idp'),
    created: { name: 'jwt' },
    async update(place, idpId) {
      await api(place)['updateOrgIDP']({ ...jwtProvider('jwt2'), idpId })
      await api(place)['updateOrgIDPJWTConfig']({ ...jwtProvider('jwt2'), idpId })
    },
    updated: { name: 'jwt2' },
    remove: (place, idpId) => api(place)['removeOrgIDP']({ idpId }),
    importedById: true,
  },
  ...terraformProviders,
]

function jwtProvider(name: string): object {
  return {
    name,
    stylingType: 0,
    jwtEndpoint: 'https://idp.example.com/jwt',
    issuer: 'https://idp.example.com',
    keysEndpoint: 'https://idp.example.com/keys',
    headerName: 'x-auth-token',
    autoRegister: false,
  }
}

function human(givenName: string, isVerified: boolean): object {
  const profile = { givenName, familyName: 'L', nickName: 'N', displayName: 'F L', preferredLanguage: 'de', gender: 2 }
  return { type: { case: 'human', value: { profile, email: { isVerified } } } }
}
