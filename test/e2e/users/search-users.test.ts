import type { JsonObject } from '@bufbuild/protobuf'
import { beforeAll, describe, expect, test } from 'vitest'
import { admin, getUser, newHuman, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'

const text = (name: string, value: string, method: string) => ({
  [`${name}Query`]: { [name === 'email' ? 'emailAddress' : name]: value, method: `TEXT_QUERY_METHOD_${method}` },
})
const domain = unique('d')

let home: string
let abroad: string
let manager: Awaited<ReturnType<typeof newMember>>
/** User ids by user name. */
const ids: Record<string, string> = {}

beforeAll(async () => {
  ;[home, abroad] = [await newOrganization(), await newOrganization()]
  manager = await newMember(home, ['ORG_USER_MANAGER'])
  const people = [
    ['ada', 'Ada', 'Lovelace', 'Countess'],
    ['Grace', 'Grace', 'Hopper', 'Amazing'],
    ['zoe', 'Zoë', 'Ädler', 'z_%'],
    ['alan', 'Alan', 'Turing', 'Prof'],
  ] as const
  for (const [userName, firstName, lastName, nickName] of people) {
    const profile = { firstName, lastName, nickName, displayName: `${firstName} ${lastName}` }
    ids[userName] = (await newHuman(home, { userName, email: `${userName}@${domain}.example`, profile })).userId
    await newHuman(abroad, { userName, email: `${userName}@${domain}.example`, profile })
  }
  const machine = { userName: 'robot', name: 'Ada the robot' }
  ids['robot'] = ok(await json('AddMachineUser', machine, admin(home))).userId
  ids['manager'] = manager.userId
}, 60_000)

type Options = Record<string, unknown>

async function found(options: Options, call = json, caller: object = manager): Promise<string[]> {
  const { users } = ok(await call('SearchUsers', options as JsonObject, caller))
  return (users ?? []).map(({ userId }: { userId: string }) => nameOf(userId))
}

const nameOf = (userId: string) => Object.keys(ids).find((name) => ids[name] === userId) ?? userId
const query = (...queries: object[]): Options => ({ queries, sortingColumn: 'USER_FIELD_NAME_USER_NAME' })

describe.each(over('connect'))('over $encoding', ({ call }) => {
  test('SearchUsers gives the users of the acting organization as GetUser does, the oldest first', async () => {
    const { users, total, nextCursor } = ok(await call('SearchUsers', { withTotal: true }, manager))
    expect(users.map(({ userId }: { userId: string }) => nameOf(userId))).toEqual([
      'manager',
      'ada',
      'Grace',
      'zoe',
      'alan',
      'robot',
    ])
    expect(total).toBe(6)
    expect(nextCursor || undefined).toBeUndefined()
    expect(users[1]).toEqual(ok(await call('GetUser', { userId: ids['ada']! }, admin())).user)
    expect(users[5]).toEqual(ok(await call('GetUser', { userId: ids['robot']! }, admin())).user)
  })

  test('pages follow each other, and their cursor fits no other request', async () => {
    const request = { limit: 2, sortingColumn: 'USER_FIELD_NAME_LAST_NAME', descending: true }
    const first = ok(await call('SearchUsers', request, manager))
    const cursor: string = first.nextCursor
    const rest = ok(await call('SearchUsers', { ...request, limit: 1000, cursor }, manager))
    const all = [...first.users, ...rest.users].map(({ userId }) => nameOf(userId))
    // By the code points of the canonical name.
    expect(all.slice(0, 2)).toEqual(['zoe', 'alan'])
    expect(new Set(all).size).toBe(6)
    const others = [{ ...request, descending: false }, { ...request, queries: [text('userName', 'a', 'CONTAINS')] }, {}]
    for (const other of others)
      expect(factsOf(await call('SearchUsers', { ...other, cursor }, manager))).toMatchObject({
        code: 3,
        reason: 'CURSOR_INVALID',
      })
    expect(factsOf(await call('SearchUsers', { ...request, cursor }, admin(home))).reason).toBe('CURSOR_INVALID')
  })

  test('GetMyUser gives the caller', async () => {
    expect(ok(await call('GetMyUser', {}, manager)).user).toEqual(await getUser(manager.userId))
  })
})

test.each<[string, Options, string[]]>([
  ['a part of the user name in any case', query(text('userName', 'RAC', 'CONTAINS_IGNORE_CASE')), ['Grace']],
  ['a part of the user name', query(text('userName', 'rac', 'CONTAINS')), ['Grace']],
  ['a part in the wrong case', query(text('userName', 'RAC', 'CONTAINS')), []],
  ['the beginning of the first name', query(text('firstName', 'a', 'STARTS_WITH_IGNORE_CASE')), ['ada', 'alan', 'manager']], // prettier-ignore
  ['the last name in any case', query(text('lastName', 'ÄDLER', 'EQUALS_IGNORE_CASE')), ['zoe']],
  ['the end of the nick name', query(text('nickName', '_%', 'ENDS_WITH')), ['zoe']],
  ['a display name, which of a machine is its name', query(text('displayName', 'Ada the', 'STARTS_WITH')), ['robot']],
  ['a part of the address', query(text('email', `a@${domain}`, 'CONTAINS')), ['ada']],
  ['an address in the wrong case', query(text('email', `ADA@${domain}.example`, 'EQUALS')), []],
  ['addresses', query({ inUserEmailsQuery: { userEmails: [`GRACE@${domain}.example`, 'x'] } }), ['Grace']],
  ['the type', query({ typeQuery: { type: 'TYPE_MACHINE' } }), ['robot']],
  ['the state', query({ stateQuery: { state: 'USER_STATE_LOCKED' } }), []],
  [
    'one of several, over names and addresses',
    query({
      orQuery: { queries: [text('nickName', 'Prof', 'EQUALS'), text('email', `zoe@${domain}`, 'STARTS_WITH')] },
    }),
    ['alan', 'zoe'],
  ],
  [
    'none of several',
    query(
      { typeQuery: { type: 'TYPE_HUMAN' } },
      {
        notQuery: {
          query: { orQuery: { queries: [text('email', 'a', 'STARTS_WITH'), text('firstName', 'Ada', 'EQUALS')] } },
        },
      },
    ),
    ['Grace', 'zoe'],
  ],
  [
    'all of several',
    query({ andQuery: { queries: [text('email', domain, 'CONTAINS'), text('lastName', 'ing', 'ENDS_WITH')] } }),
    ['alan'],
  ],
])('SearchUsers finds by %s', async (_, request, expected) => {
  expect(await found(request)).toEqual(expected)
})

test('SearchUsers finds by ids and by creation', async () => {
  const strangers = ok(await json('SearchUsers', {}, admin(abroad))).users
  const userIds = [ids['zoe'], ids['ada'], strangers[0].userId]
  expect(await found(query({ inUserIdsQuery: { userIds } }))).toEqual(['ada', 'zoe'])
  const { creationDate } = (await getUser(ids['Grace']!)).details
  const until = query({ creationDateQuery: { to: creationDate } })
  expect(await found(until)).toEqual(['ada', 'manager'])
  expect(await found(query({ creationDateQuery: { from: creationDate } }))).toEqual(['alan', 'Grace', 'robot', 'zoe'])
})

test.each(['USER_NAME', 'FIRST_NAME', 'LAST_NAME', 'DISPLAY_NAME', 'EMAIL', 'CREATION_DATE'])(
  'SearchUsers sorts by %s, in both directions and page by page',
  async (column) => {
    const request = { sortingColumn: `USER_FIELD_NAME_${column}` }
    const all = await found(request)
    expect(new Set(all)).toEqual(new Set(Object.keys(ids)))
    expect(await found({ ...request, descending: true })).toEqual(all.toReversed())
    const paged: string[] = []
    for (let cursor = ''; ;) {
      const page = ok(await json('SearchUsers', { ...request, limit: 1, cursor }, manager))
      paged.push(nameOf(page.users[0].userId))
      if (!page.nextCursor) break
      cursor = page.nextCursor
    }
    expect(paged).toEqual(all)
  },
)

test('a search covers another organization only for a caller with rights there, and all of them for the instance', async () => {
  const named = { queries: [{ organizationIdQuery: { organizationId: abroad } }] }
  const { users } = ok(await json('SearchUsers', named, admin(home)))
  expect(users).toHaveLength(4)
  expect(new Set(users.map((user: any) => user.organizationId))).toEqual(new Set([abroad]))
  const everywhere = { allOrganizations: true, queries: [text('email', domain, 'CONTAINS')], withTotal: true }
  expect(ok(await json('SearchUsers', everywhere as JsonObject, admin(home))).total).toBe(8)
  // Within another condition it only filters, and so reveals nothing of others.
  const inner = query({ orQuery: { queries: [{ organizationIdQuery: { organizationId: abroad } }] } })
  expect(await found(inner)).toEqual([])
})

test('every change of a user is in the next search', async () => {
  const organization = await newOrganization()
  const { userId, userName } = await newHuman(organization)
  const names = async (...queries: object[]) =>
    (ok(await json('SearchUsers', { queries } as JsonObject, admin(organization))).users ?? []).length
  expect(await names(text('userName', userName, 'EQUALS'))).toBe(1)
  ok(await json('SetEmail', { userId, email: 'changed@found.example', isVerified: true }, admin()))
  expect(await names(text('email', 'changed@FOUND', 'STARTS_WITH_IGNORE_CASE'))).toBe(1)
  ok(await json('LockUser', { userId }, admin()))
  expect(await names({ stateQuery: { state: 'USER_STATE_LOCKED' } })).toBe(1)
  ok(await json('DeleteUser', { userId }, admin()))
  expect(await names()).toBe(0)
})

test('IsUserUnique looks at user names and active addresses of the acting organization alone', async () => {
  const unique = async (request: JsonObject, caller: object = manager) =>
    ok(await json('IsUserUnique', request, caller)).isUnique ?? false
  expect(await unique({ userName: 'ＧRACE' })).toBe(false)
  expect(await unique({ userName: 'grace2' })).toBe(true)
  expect(await unique({ email: `Ada@${domain}.example` })).toBe(false)
  expect(await unique({ userName: 'grace2', email: `ada@${domain}.example` })).toBe(false)
  expect(await unique({ email: `new@${domain}.example` })).toBe(true)
  const elsewhere = await newOrganization()
  expect(await unique({ userName: 'grace', email: `ada@${domain}.example` }, admin(elsewhere))).toBe(true)
  const { userId, email } = await newHuman(home)
  ok(await json('DeactivateUser', { userId }, admin()))
  expect(await unique({ email })).toBe(true)
})
