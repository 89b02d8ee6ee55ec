import { unique } from './people.ts'
import { denied, type ErrorCase, exists, fails, invalid, notFound, owner, precondition, type World } from './world.ts'

const inAbroad = { organization: ({ abroad }: World) => abroad }
const grant = (world: World, more: object = {}) => ({
  userId: world.human.userId,
  projectId: world.project,
  ...more,
})

const chosen = (world: World) => grant(world, { userGrantId: unique('grant') })

/** AddUserGrant and GetUserGrant. */
export const userGrantErrors: ErrorCase[] = [
  fails('AddUserGrant', invalid, 'the project is missing', ({ human: { userId } }) => ({ userId }), {
    fields: ['projectId'],
  }),
  fails('AddUserGrant', notFound('USER_NOT_FOUND'), 'the user is unknown', (world) =>
    grant(world, { userId: 'unknown' }),
  ),
  fails('AddUserGrant', precondition('PROJECT_NOT_FOUND'), 'the project is unknown', (world) =>
    grant(world, { projectId: 'unknown' }),
  ),
  fails(
    'AddUserGrant',
    precondition('PROJECT_NOT_FOUND'),
    'the project is not granted',
    (world) => grant(world),
    inAbroad,
  ),
  fails('AddUserGrant', precondition('PROJECT_GRANT_NOT_FOUND'), 'the grant is of another project', (world) =>
    grant(world, { projectGrantId: world.grant }),
  ),
  fails('AddUserGrant', precondition('PROJECT_GRANT_NOT_FOUND'), 'the grant is unknown', (world) =>
    grant(world, { projectId: world.foreignProject, projectGrantId: 'unknown' }),
  ),
  fails(
    'AddUserGrant',
    precondition('ROLE_NOT_FOUND'),
    'roles are not of the project',
    (world) => grant(world, { roleKeys: ['reader', 'no-such', 'nor-this'] }),
    { metadata: { roleKeys: '["no-such","nor-this"]' } },
  ),
  fails(
    'AddUserGrant',
    precondition('ROLE_NOT_FOUND'),
    'a role is not granted',
    (world) => grant(world, { projectId: world.foreignProject, roleKeys: ['writer'] }),
    { metadata: { roleKeys: '["writer"]' } },
  ),
  fails('AddUserGrant', invalid, 'the chosen id has other symbols', (world) => grant(world, { userGrantId: 'a.b' }), {
    fields: ['userGrantId'],
  }),
  fails(
    'BulkAddUserGrants',
    denied,
    'an organization owner chooses an id',
    (world) => ({ userGrants: [grant(world), chosen(world)] }),
    owner,
  ),
  fails('GetUserGrant', notFound('USER_GRANT_NOT_FOUND'), 'the grant is unknown', ({ human: { userId } }) => ({
    userId,
    grantId: 'unknown',
  })),
]

const role = (projectId: string, roleKey: string) => ({ projectId, roleKey, displayName: 'R' })

/** Projects, their roles and their grants. */
export const projectErrors: ErrorCase[] = [
  fails('AddProject', exists('PROJECT_ID_TAKEN'), 'the id is taken', ({ project }) => ({
    name: 'P',
    projectId: project,
  })),
  fails('AddProject', exists('PROJECT_ID_TAKEN'), 'a foreign project has the id', ({ foreignProject }) => ({
    name: 'P',
    projectId: foreignProject,
  })),
  fails('AddProject', exists('PROJECT_ID_TAKEN'), 'the id means Roster itself', () => ({
    name: 'P',
    projectId: 'zitadel',
  })),
  ...['', '_', 'a b', '../x', 'x'.repeat(201)].map((projectId) =>
    fails('AddProject', invalid, `the id is "${projectId.slice(0, 9)}"`, () => ({ name: 'P', projectId }), {
      fields: ['projectId'],
    }),
  ),
  ...['.', '..'].map((key) =>
    fails('AddProjectRole', invalid, `no URL could name ${key}`, ({ project }) => role(project, key), {
      fields: ['roleKey'],
    }),
  ),
  fails('AddProjectRole', exists('ROLE_EXISTS'), 'the project has the role', ({ project }) => role(project, 'reader')),
  fails('AddProjectRole', notFound('PROJECT_NOT_FOUND'), 'the project is foreign', ({ foreignProject }) =>
    role(foreignProject, 'new'),
  ),
  fails(
    'AddProjectGrant',
    exists('PROJECT_GRANT_EXISTS'),
    'the organization has the project',
    ({ foreignProject, home }) => ({ projectId: foreignProject, grantedOrgId: home }),
    inAbroad,
  ),
  fails(
    'AddProjectGrant',
    exists('PROJECT_GRANT_ID_TAKEN'),
    'the id is taken',
    ({ project, abroad, grant: grantId }) => ({
      projectId: project,
      grantedOrgId: abroad,
      grantId,
    }),
  ),
  fails(
    'AddProjectGrant',
    precondition('ORGANIZATION_NOT_FOUND'),
    'the organization is the owner',
    ({ project, home }) => ({ projectId: project, grantedOrgId: home }),
  ),
  fails(
    'AddProjectGrant',
    precondition('ROLE_NOT_FOUND'),
    'a role is not of the project',
    ({ project, abroad }) => ({ projectId: project, grantedOrgId: abroad, roleKeys: ['none'] }),
    { metadata: { roleKeys: '["none"]' } },
  ),
]
