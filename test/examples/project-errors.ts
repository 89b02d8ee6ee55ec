import type { Operation } from './contract.ts'
import { type ErrorCase, exists, fails, invalid, notFound, owner, precondition, type World } from './world.ts'

const inAbroad = { organization: ({ abroad }: World) => abroad }
const noSuchCursor = { cursor: 'none' }
const cursorInvalid = { reason: 'CURSOR_INVALID', code: 3, http: 400 }
const foreign = ({ foreignProject }: World) => ({ projectId: foreignProject })
const own = ({ project }: World) => ({ projectId: project })

/** An operation on one object of the acting organization: no one else finds it. */
function hidden(operation: Operation, reason: string, request: (world: World) => object): ErrorCase[] {
  const withRequest = (world: World) => request(world) as never
  return [fails(operation, notFound(reason), 'it is unknown or foreign', withRequest, owner)]
}

/** A search: its cursor is its own. */
function searched(operation: Operation, request: (world: World) => object = () => ({})): ErrorCase[] {
  const withCursor = (world: World) => ({ ...request(world), ...noSuchCursor }) as never
  return [
    fails(operation, cursorInvalid, 'no answer gave the cursor', withCursor, { fields: ['cursor'] }),
    fails(operation, invalid, 'the limit is too large', (world) => ({ ...request(world), limit: 1001 }), {
      fields: ['limit'],
    }),
  ]
}

const newRole = { key: 'new', displayName: 'New' }

/** Projects and their roles, once they are there. */
export const projectLifeErrors: ErrorCase[] = [
  ...(['GetProject', 'UpdateProject', 'DeactivateProject', 'ReactivateProject', 'RemoveProject'] as const).flatMap(
    (operation) => hidden(operation, 'PROJECT_NOT_FOUND', foreign),
  ),
  fails(
    'BulkAddProjectRoles',
    invalid,
    'a key, a name and a group have characters that cannot be seen',
    (world) => ({ ...own(world), roles: [{ key: 'a\u200b', displayName: '\u2800', group: '\u202eA' }] }),
    { fields: ['roles[0].key', 'roles[0].displayName', 'roles[0].group'] },
  ),
  fails('UpdateProject', invalid, 'the name is empty', (world) => ({ ...own(world), name: '' }), { fields: ['name'] }),
  fails('ReactivateProject', precondition('PROJECT_NOT_INACTIVE'), 'the project is active', own),
  ...searched('SearchProjects'),
  ...hidden('BulkAddProjectRoles', 'PROJECT_NOT_FOUND', (world) => ({ ...foreign(world), roles: [newRole] })),
  fails('BulkAddProjectRoles', exists('ROLE_EXISTS'), 'a key is sent twice', (world) => ({
    ...own(world),
    roles: [newRole, newRole],
  })),
  fails(
    'BulkAddProjectRoles',
    invalid,
    'no URL could name a key',
    (world) => ({ ...own(world), roles: [newRole, { ...newRole, key: '..' }] }),
    { fields: ['roles[1].key'] },
  ),
  fails('BulkAddProjectRoles', invalid, 'there is no role', own, { fields: ['roles'] }),
  ...hidden('SearchProjectRoles', 'PROJECT_NOT_FOUND', foreign),
  ...searched('SearchProjectRoles', own),
  ...(['UpdateProjectRole', 'RemoveProjectRole'] as const).flatMap((operation) => [
    ...hidden(operation, 'PROJECT_NOT_FOUND', (world) => ({ ...foreign(world), roleKey: 'reader' })),
    fails(operation, notFound('ROLE_NOT_FOUND'), 'there is no such role', (world) => ({
      ...own(world),
      roleKey: 'no',
    })),
  ]),
  ...hidden('SearchRoleHolders', 'PROJECT_NOT_FOUND', () => ({ projectId: 'unknown', roleKey: 'reader' })),
  ...searched('SearchRoleHolders', (world) => ({ ...own(world), roleKey: 'reader' })),
  ...hidden('ListUserRoles', 'PROJECT_NOT_FOUND', () => ({ projectId: 'unknown', userId: 'u' })),
]

const granted = ({ foreignProject, grant }: World) => ({ projectId: foreignProject, grantId: grant })
const noGrant = ({ project }: World) => ({ projectId: project, grantId: 'unknown' })

/** Grants of projects, once they are there. */
export const projectGrantErrors: ErrorCase[] = [
  ...(
    [
      'GetProjectGrant',
      'UpdateProjectGrant',
      'DeactivateProjectGrant',
      'ReactivateProjectGrant',
      'RemoveProjectGrant',
    ] as const
  ).flatMap((operation) => [
    ...hidden(operation, 'PROJECT_GRANT_NOT_FOUND', noGrant),
    fails(operation, notFound('PROJECT_GRANT_NOT_FOUND'), 'the acting organization only has the grant', granted, owner),
    fails(operation, notFound('PROJECT_GRANT_NOT_FOUND'), 'the grant is of another project', (world) => ({
      ...own(world),
      grantId: world.grant,
    })),
  ]),
  fails(
    'UpdateProjectGrant',
    precondition('ROLE_NOT_FOUND'),
    'a role is not of the project',
    (world) => ({ ...granted(world), roleKeys: ['no'] }),
    { ...inAbroad, metadata: { roleKeys: '["no"]' } },
  ),
  fails('ReactivateProjectGrant', precondition('PROJECT_GRANT_NOT_INACTIVE'), 'the grant is active', granted, inAbroad),
  ...searched('SearchProjectGrants', own),
  ...hidden('GetGrantedProject', 'PROJECT_GRANT_NOT_FOUND', noGrant),
  fails('GetGrantedProject', notFound('PROJECT_GRANT_NOT_FOUND'), 'the owner asks for its own', granted, inAbroad),
  ...searched('SearchGrantedProjects'),
]

const noUserGrant = ({ human }: World) => ({ userId: human.userId, grantId: 'unknown' })

/** User grants, once they are there. */
export const userGrantLifeErrors: ErrorCase[] = [
  ...(['UpdateUserGrant', 'DeactivateUserGrant', 'ReactivateUserGrant', 'RemoveUserGrant'] as const).flatMap(
    (operation) => hidden(operation, 'USER_GRANT_NOT_FOUND', noUserGrant),
  ),
  ...searched('SearchUserGrants'),
  ...searched('SearchMyGrants'),
]
