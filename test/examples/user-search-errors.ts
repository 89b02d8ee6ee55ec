import {
  denied,
  type ErrorCase,
  exists,
  fails,
  invalid,
  manager,
  notFound,
  owner,
  powerless,
  precondition,
} from './world.ts'

const nested = (deep: number): object =>
  deep === 0 ? { typeQuery: { type: 'TYPE_HUMAN' } } : { notQuery: { query: nested(deep - 1) } }
const cursorInvalid = { ...invalid, reason: 'CURSOR_INVALID' }

/** SearchUsers, IsUserUnique and GetMyUser. */
export const userSearchErrors: ErrorCase[] = [
  fails(
    'SearchUsers',
    denied,
    'a query names a foreign organization',
    ({ abroad }) => ({ queries: [{ organizationIdQuery: { organizationId: abroad } }] }),
    manager,
  ),
  fails(
    'SearchUsers',
    denied,
    'a query names an unknown organization',
    () => ({ queries: [{ organizationIdQuery: { organizationId: 'unknown' } }] }),
    manager,
  ),
  fails(
    'SearchUsers',
    denied,
    'a second query names a foreign organization',
    ({ home, abroad }) => ({
      queries: [home, abroad].map((organizationId) => ({ organizationIdQuery: { organizationId } })),
    }),
    manager,
  ),
  fails('SearchUsers', denied, 'all organizations are asked for', () => ({ allOrganizations: true }), owner),
  fails('SearchUsers', cursorInvalid, 'the cursor is none of ours', () => ({ cursor: 'x' }), { fields: ['cursor'] }),
  fails('SearchUsers', invalid, 'the limit is too high', () => ({ limit: 1001 }), { fields: ['limit'] }),
  fails('SearchUsers', invalid, 'a query is empty', () => ({ queries: [{}] }), { fields: ['queries[0].query'] }),
  fails(
    'SearchUsers',
    invalid,
    'a query within another is empty',
    () => ({ queries: [{ orQuery: { queries: [{}] } }] }),
    {
      fields: ['queries[0].orQuery.queries[0].query'],
    },
  ),
  fails('SearchUsers', invalid, 'queries are nested six deep', () => ({ queries: [nested(5) as never] }), {
    fields: ['queries'],
  }),
  fails(
    'SearchUsers',
    invalid,
    'there are 51 queries in all',
    () => ({
      queries: [
        { orQuery: { queries: Array.from({ length: 25 }, () => nested(0) as never) } },
        { andQuery: { queries: Array.from({ length: 24 }, () => nested(0) as never) } },
      ],
    }),
    { fields: ['queries'] },
  ),
  fails(
    'SearchUsers',
    invalid,
    'all organizations are sorted by address',
    () => ({ allOrganizations: true, sortingColumn: 'USER_FIELD_NAME_EMAIL' }),
    { fields: ['sortingColumn'] },
  ),
  fails('IsUserUnique', invalid, 'nothing is asked', () => ({}), { fields: ['userName'] }),
]

const idOf = (userId: string) => ({ userId })
const renamed = (userId: string) => ({ userId, userName: 'new-name' })

/** Operations that correct a user, show its history, and find and end its sessions. */
export const userLifeErrors: ErrorCase[] = [
  ...(['UpdateUserName', 'UpdateHumanProfile', 'UpdateMachine'] as const).flatMap((operation) => [
    fails(operation, notFound('USER_NOT_FOUND'), 'the user is unknown', () => renameOnly(operation, 'unknown')),
  ]),
  fails('UpdateUserName', invalid, 'the name is missing', ({ human }) => idOf(human.userId), { fields: ['userName'] }),
  fails(
    'UpdateUserName',
    invalid,
    'the name looks like another',
    ({ human, machine }) => ({
      userId: human.userId,
      userName: `${machine}\u200b`,
    }),
    { fields: ['userName'] },
  ),
  fails('UpdateUserName', exists('USER_NAME_TAKEN'), 'another user has the name', ({ human, machine }) => ({
    userId: human.userId,
    userName: machine.toUpperCase(),
  })),
  fails(
    'UpdateHumanProfile',
    invalid,
    'the display name is empty',
    ({ human }) => ({ userId: human.userId, displayName: '', preferredLanguage: 'a b' }),
    { fields: ['displayName', 'preferredLanguage'] },
  ),
  fails('UpdateHumanProfile', precondition('NOT_A_HUMAN'), 'it is a machine', ({ machineId }) => idOf(machineId)),
  fails('UpdateMachine', precondition('NOT_A_MACHINE'), 'it is a human', ({ human }) => idOf(human.userId)),
  fails('UpdateMachine', invalid, 'the name is empty', ({ machineId }) => ({ userId: machineId, name: '' }), {
    fields: ['name'],
  }),
  fails('ListUserChanges', notFound('USER_NOT_FOUND'), 'the user is unknown', () => idOf('unknown')),
  fails(
    'ListUserChanges',
    cursorInvalid,
    'the cursor is none of ours',
    ({ human }) => ({
      userId: human.userId,
      cursor: 'x',
    }),
    { fields: ['cursor'] },
  ),
  fails(
    'SearchUserConsents',
    cursorInvalid,
    'the cursor is none of ours',
    ({ human }) => ({ userId: human.userId, cursor: 'x' }),
    { fields: ['cursor'] },
  ),
  fails('SearchMySessions', cursorInvalid, 'the cursor is none of ours', () => ({ cursor: 'x' }), {
    ...powerless,
    fields: ['cursor'],
  }),
]

function renameOnly(operation: string, userId: string) {
  return operation === 'UpdateUserName' ? renamed(userId) : idOf(userId)
}
