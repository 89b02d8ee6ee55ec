import { denied, type ErrorCase, fails, invalid, manager, needsCaller, owner, powerless } from './world.ts'

const nested = (deep: number): object =>
  deep === 0 ? { typeQuery: { type: 'TYPE_HUMAN' } } : { notQuery: { query: nested(deep - 1) } }
const cursorInvalid = { ...invalid, reason: 'CURSOR_INVALID' }

/** SearchUsers, IsUserUnique and GetMyUser. */
export const userSearchErrors: ErrorCase[] = [
  ...needsCaller('GetMyUser', () => ({})),
  ...needsCaller('SearchUsers', () => ({})),
  fails('SearchUsers', denied, 'the caller may not', () => ({}), powerless),
  fails('SearchUsers', denied, 'the organization is foreign', () => ({}), { ...owner, organization: (w) => w.abroad }),
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
  ...needsCaller('IsUserUnique', () => ({ userName: 'x' })),
  fails('IsUserUnique', denied, 'the caller may not', () => ({ userName: 'x' }), powerless),
  fails('IsUserUnique', invalid, 'nothing is asked', () => ({}), { fields: ['userName'] }),
]
