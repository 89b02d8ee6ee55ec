import { type ErrorCase, exists, fails, invalid, notFound, type World } from './world.ts'

type Level = 'Organization' | 'Instance' | 'Project'

const levels: { level: Level; role: string; above: string }[] = [
  { level: 'Organization', role: 'ORG_OWNER', above: 'IAM_OWNER' },
  { level: 'Instance', role: 'IAM_OWNER_VIEWER', above: 'ORG_OWNER' },
  { level: 'Project', role: 'PROJECT_OWNER', above: 'ORG_OWNER' },
]

/** Members of each level. */
export const memberErrors: ErrorCase[] = [
  ...levels.flatMap(({ level, role, above }): ErrorCase[] => {
    const of = ({ project }: World) => (level === 'Project' ? { projectId: project } : {})
    const member = (userId: (world: World) => string, roles: string[]) => (world: World) => ({
      ...of(world),
      userId: userId(world),
      roles,
    })
    const human = (world: World) => world.human.userId
    const unknown = () => 'unknown'
    const [add, update, remove, search] = [
      `Add${level}Member`,
      `Update${level}Member`,
      `Remove${level}Member`,
      `Search${level}Members`,
    ] as const
    return [
      ...[add, update].flatMap((operation) => [
        fails(operation, invalid, 'the role is of another level', member(human, [above]), { fields: ['roles[0]'] }),
        fails(operation, invalid, 'there is no role', member(human, []), { fields: ['roles'] }),
        fails(operation, invalid, 'a role comes twice', member(human, [role, role]), { fields: ['roles'] }),
      ]),
      fails(add, notFound('USER_NOT_FOUND'), 'the user is unknown', member(unknown, [role])),
      fails(update, notFound('MEMBER_NOT_FOUND'), 'the user is no member', member(unknown, [role])),
      fails(remove, notFound('MEMBER_NOT_FOUND'), 'the user is no member', (world) => ({
        ...of(world),
        userId: world.roleless.userId,
      })),
      fails(search, invalid, 'there is no such role', (world) => ({ ...of(world), role: above }), { fields: ['role'] }),
      fails(search, invalid, 'the limit is too high', (world) => ({ ...of(world), limit: 1001 }), {
        fields: ['limit'],
      }),
      fails(
        search,
        { ...invalid, reason: 'CURSOR_INVALID' },
        'the cursor is made up',
        (world) => ({ ...of(world), cursor: 'abc' }),
        { fields: ['cursor'] },
      ),
    ]
  }),
  fails('AddOrganizationMember', exists('MEMBER_EXISTS'), 'the user is a member', (world) => ({
    userId: world.manager.userId,
    roles: ['ORG_OWNER'],
  })),
  fails('AddInstanceMember', exists('MEMBER_EXISTS'), 'the user is a member', () => ({
    userId: 'admin',
    roles: ['IAM_OWNER'],
  })),
  fails('LeaveOrganization', invalid, 'the id is too long', () => ({ orgId: 'x'.repeat(201) }), { fields: ['orgId'] }),
  fails('LeaveOrganization', notFound('MEMBER_NOT_FOUND'), 'the caller has no role there', () => ({
    orgId: 'unknown',
  })),
  fails('LeaveOrganization', notFound('MEMBER_NOT_FOUND'), 'roles on the instance stay', () => ({ orgId: 'roster' })),
  ...['PROJECT_OWNER', 'PROJECT_OWNER_VIEWER'].map((role) =>
    fails('AddProjectMember', notFound('PROJECT_NOT_FOUND'), `the project is foreign, for ${role}`, (world) => ({
      projectId: world.foreignProject,
      userId: world.human.userId,
      roles: [role],
    })),
  ),
  fails('AddProjectMember', notFound('PROJECT_NOT_FOUND'), 'the project is unknown', (world) => ({
    projectId: 'unknown',
    userId: world.human.userId,
    roles: ['PROJECT_GRANT_OWNER'],
  })),
]
