import type { Filled } from './fill.ts'

/** A question to a filled system. Both systems have enough for a whole page of answers. */
export interface Question {
  name: string
  /** The n-th request. */
  ask(filled: Filled, n: number): [verb: string, path: string, body?: object]
}

const users = '/v2/users/_search'
const grants = '/management/v1/users/grants/_search'
const idOf = ({ userIds }: Filled, n: number) => userIds[(n * 7919) % userIds.length]!
const projectOf = ({ projectIds }: Filled, n: number) => projectIds[n % projectIds.length]!
const digits = (n: number) => String(n).padStart(6, '0')

const userSearches: Record<string, (filled: Filled, n: number) => object> = {
  'users: first page': () => ({}),
  'users: by name, descending': () => ({ sortingColumn: 'USER_FIELD_NAME_USER_NAME', descending: true }),
  'users: one name': ({ userIds }, n) => named(`USER-${digits((n * 7919) % userIds.length)}`, 'EQUALS_IGNORE_CASE'),
  'users: name begins with': (_, n) => named(`user-0000${n % 10}`, 'STARTS_WITH'),
  'users: name contains': (_, n) => named(`r-0000${n % 10}`, 'CONTAINS_IGNORE_CASE'),
  'users: address ends with': (_, n) => ({
    queries: [
      { emailQuery: { emailAddress: `0000${2 * (n % 50)}@example.com`, method: 'TEXT_QUERY_METHOD_ENDS_WITH' } },
    ],
  }),
  'users: machines, by name': () => ({
    queries: [{ typeQuery: { type: 'TYPE_MACHINE' } }],
    sortingColumn: 'USER_FIELD_NAME_USER_NAME',
  }),
  'users: last name contains, and human': () => ({
    queries: [
      {
        andQuery: {
          queries: [
            { lastNameQuery: { lastName: 'hopp', method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' } },
            { typeQuery: { type: 'TYPE_HUMAN' } },
          ],
        },
      },
    ],
  }),
}

const grantSearches: Record<string, (filled: Filled, n: number) => object> = {
  'grants: first page': () => ({}),
  'grants: with role R in project P': (filled, n) => ({ projectId: projectOf(filled, n), roleKey: 'writer' }),
  'grants: of user U in project P': (filled, n) => ({ userId: idOf(filled, n), projectId: projectOf(filled, n) }),
  'grants: of user U': (filled, n) => ({ userId: idOf(filled, n) }),
}

export const questions: Question[] = [
  ...search(users, userSearches),
  { name: 'get a user', ask: (filled, n) => ['GET', `/v2/users/${idOf(filled, n)}`] },
  ...search(grants, grantSearches),
  {
    name: 'who has role R in project P',
    ask: (filled, n) => [
      'POST',
      `/management/v1/projects/${projectOf(filled, n)}/roles/_holders`,
      { roleKey: 'writer' },
    ],
  },
  {
    name: 'what may user U do in project P',
    ask: (filled, n) => ['GET', `/management/v1/projects/${projectOf(filled, n)}/users/${idOf(filled, n)}/roles`],
  },
]

/** Searches of which the bench compares page 1,000 with page 1. */
export const pagedSearches: Record<string, string> = { users, grants }

function search(path: string, bodies: Record<string, (filled: Filled, n: number) => object>): Question[] {
  return Object.entries(bodies).map(([name, body]) => ({ name, ask: (filled, n) => ['POST', path, body(filled, n)] }))
}

function named(userName: string, method: string): object {
  return { queries: [{ userNameQuery: { userName, method: `TEXT_QUERY_METHOD_${method}` } }] }
}
