import type { DescMessage, MessageInitShape } from '@bufbuild/protobuf'
import { IDPOwnerType, IDPState, type ProviderSchema } from '@zitadel/proto/zitadel/idp_pb'
import type { MemberSchema } from '@zitadel/proto/zitadel/member_pb'
import { OrganizationState, type OrganizationSchema } from '@zitadel/proto/zitadel/org/v2/org_pb'
import {
  type GrantedProjectSchema,
  ProjectGrantState,
  type ProjectSchema,
  ProjectState,
  type RoleSchema,
} from '@zitadel/proto/zitadel/project_pb'
import { type UserSchema, UserState } from '@zitadel/proto/zitadel/user/v2/user_pb'
import { type UserGrantSchema, UserGrantState } from '@zitadel/proto/zitadel/user_pb'

type Init<Schema extends DescMessage> = Exclude<MessageInitShape<Schema>, { $typeName: string }>

/** What an instance of ZITADEL has. */
export interface ZitadelData {
  organizations: Init<typeof OrganizationSchema>[]
  users: Init<typeof UserSchema>[]
  projects: Init<typeof ProjectSchema>[]
  /** By project. */
  roles: Record<string, Init<typeof RoleSchema>[]>
  projectGrants: Init<typeof GrantedProjectSchema>[]
  userGrants: Init<typeof UserGrantSchema>[]
  /** By organization, project, project grant; of the instance: by ''. */
  members: Record<string, Init<typeof MemberSchema>[]>
  /** By organization; of the instance: by ''. */
  providers: Record<string, Init<typeof ProviderSchema>[]>
}

export const noData = (): ZitadelData => ({
  organizations: [],
  users: [],
  projects: [],
  roles: {},
  projectGrants: [],
  userGrants: [],
  members: {},
  providers: {},
})

/** Ids as ZITADEL makes them. No run meets those of another one. */
export function idsFrom(base: number): () => string {
  let last = BigInt(base) << 20n
  return () => String(++last)
}

export const sizes = {
  organizations: 6,
  users: 660,
  projects: 50,
  projectGrants: 25,
  userGrants: 1320,
}
const roleKeys = ['reader', 'writer', 'team/auditor', 'OWNER']
const first = ['Ada', 'Ben', 'Chloé', 'Dora', 'Emil', 'Fatma', 'Goran']
const last = ['Arendt', 'Bach', 'Curie', 'Dürer', 'Euler', "O'Neil", '李']
const times = <Item>(number: number, make: (n: number) => Item) => Array.from({ length: number }, (_, n) => make(n))

/** Users, projects and user grants in six organizations, the last of which is inactive. */
export function largeData(newId: () => string, name: string): ZitadelData {
  const organizations = times(sizes.organizations, (n) => ({
    id: newId(),
    name: `${name} ${n}`,
    state: n === sizes.organizations - 1 ? OrganizationState.INACTIVE : OrganizationState.ACTIVE,
    primaryDomain: `${name}-${n}.zitadel.example.com`.toLowerCase(),
  }))
  const ownerOf = (n: number) => organizations[n % sizes.organizations]!.id
  const users = times(sizes.users, (n) => newUser(newId(), ownerOf(n), n))
  const projects = times(sizes.projects, (n) => ({
    id: newId(),
    name: `Project ${n}`,
    state: n % 10 === 9 ? ProjectState.INACTIVE : ProjectState.ACTIVE,
    details: { resourceOwner: ownerOf(n) },
  }))
  const roles = Object.fromEntries(
    projects.map(({ id }) => [id, roleKeys.map((key) => ({ key, displayName: `Role ${key}`, group: 'g' }))]),
  )
  const projectGrants = times(sizes.projectGrants, (n) => ({
    grantId: newId(),
    projectId: projects[n]!.id,
    projectOwnerId: ownerOf(n),
    grantedOrgId: ownerOf(n + 1),
    grantedRoleKeys: ['reader', 'writer'],
    state: n % 8 === 7 ? ProjectGrantState.INACTIVE : ProjectGrantState.ACTIVE,
  }))
  return {
    organizations,
    users,
    projects,
    roles,
    projectGrants,
    userGrants: newUserGrants(newId, { users, projects, projectGrants, ownerOf }),
    members: newMembers({ organizations, users, projects, projectGrants }),
    providers: newProviders(newId, organizations[0]!.id, name),
  }
}

function newUser(userId: string, resourceOwner: string, n: number): ZitadelData['users'][number] {
  const username = n % 4 === 3 ? `robot-${n}` : `person-${n}@example.com`
  const state = n % 20 === 10 ? UserState.INACTIVE : n % 50 === 25 ? UserState.LOCKED : UserState.ACTIVE
  const shared = { userId, username, state, details: { resourceOwner } }
  if (n % 4 === 3)
    return {
      ...shared,
      type: { case: 'machine', value: { name: `Robot ${n}`, description: 'Moves', accessTokenType: n % 2 } },
    }
  const [givenName, familyName] = [first[n % first.length]!, last[n % last.length]!]
  const profile = { givenName, familyName, displayName: `${givenName} #${n}`, preferredLanguage: n % 2 ? 'de' : 'und' }
  const email = { email: `person-${n}@example.com`, isVerified: n % 3 !== 0 }
  return {
    ...shared,
    type: { case: 'human', value: { profile: { ...profile, nickName: n % 5 ? '' : 'Nick' }, email } },
  }
}

type Made = Pick<ZitadelData, 'users' | 'projects' | 'projectGrants'>

// Four fifths of projects of their own organization, the rest under grants of projects.
function newUserGrants(newId: () => string, { users, projects, projectGrants, ownerOf }: Made & { ownerOf: OwnerOf }) {
  const own = (n: number) => {
    const owner = n % sizes.organizations
    const among = projects.filter((_, at) => at % sizes.organizations === owner && at % 10 !== 9)
    return { project: among[Math.floor(n / sizes.users) % among.length]!, owner: ownerOf(owner) }
  }
  const grants: ZitadelData['userGrants'] = []
  const state = (n: number) => (n % 40 === 39 ? UserGrantState.INACTIVE : UserGrantState.ACTIVE)
  for (let n = 0; grants.length < sizes.userGrants - 200; n++) {
    const { project, owner } = own(n)
    const userId = users[n % sizes.users]!.userId!
    const keys = n % 3 ? ['reader'] : ['writer', 'team/auditor']
    grants.push({ id: newId(), userId, projectId: project.id!, orgId: owner, roleKeys: keys, state: state(n) })
  }
  const active = projectGrants.filter(({ state }, at) => state === ProjectGrantState.ACTIVE && at % 10 !== 9)
  for (let n = 0; grants.length < sizes.userGrants; n++) {
    const { grantId, projectId, grantedOrgId } = active[n % active.length]!
    const userId = users[n]!.userId!
    const shared = { id: newId(), userId, projectId: projectId!, orgId: grantedOrgId!, roleKeys: ['reader'] }
    grants.push({ ...shared, projectGrantId: grantId!, state: state(n) })
  }
  return grants
}

type OwnerOf = (n: number) => string

function newMembers({ organizations, users, projects, projectGrants }: Made & Pick<ZitadelData, 'organizations'>) {
  const members: ZitadelData['members'] = { '': [{ userId: users[0]!.userId!, roles: ['IAM_OWNER_VIEWER'] }] }
  const member = (n: number, ...roles: string[]) => ({ userId: users[n]!.userId!, roles })
  for (const [n, { id }] of organizations.entries())
    members[id!] = [member(n, 'ORG_OWNER'), member(n + 6, 'ORG_USER_MANAGER', 'ORG_SETTINGS_MANAGER')]
  members[projects[0]!.id!] = [member(12, 'PROJECT_OWNER'), member(18, 'PROJECT_OWNER_VIEWER')]
  members[projectGrants[0]!.grantId!] = [member(13, 'PROJECT_GRANT_OWNER')]
  return members
}

function newProviders(newId: () => string, organization: string, name: string): ZitadelData['providers'] {
  const jwt = {
    jwtEndpoint: 'https://idp.example.com/jwt',
    issuer: 'https://idp.example.com',
    keysEndpoint: 'https://idp.example.com/keys',
    headerName: 'x-token',
  }
  const oidc = { issuer: 'https://idp.example.com', clientId: 'c', scopes: ['openid'] }
  const shared = { owner: IDPOwnerType.IDP_OWNER_TYPE_ORG, state: IDPState.IDP_STATE_ACTIVE }
  return {
    [organization]: [
      { ...shared, id: newId(), name: `${name} JWT`, config: { config: { case: 'jwt', value: jwt } } },
      { ...shared, id: newId(), name: `${name} OIDC`, config: { config: { case: 'oidc', value: oidc } } },
    ],
    '': [
      {
        id: newId(),
        name: `${name} JWT of all`,
        state: IDPState.IDP_STATE_INACTIVE,
        config: { config: { case: 'jwt', value: jwt } },
      },
    ],
  }
}
