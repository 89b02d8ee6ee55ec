import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { addMachineUser } from '../operations/user/add-machine-user.ts'
import { updateUserName } from '../operations/user/update-user-name.ts'
import { removedUser } from '../states/removed-user.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import type { User } from '../events/user.ts'
import { findLoginUser } from './meaning.ts'

let database: TestDatabase
let domains: Awaited<ReturnType<typeof serveDomains>>
let [one, other]: TestUsers[] = []

beforeAll(async () => {
  database = await createDatabase()
  domains = await serveDomains({})
  ;[one, other] = [await openUsers(database.urls.users), await openUsers(database.urls.users)]
})
afterAll(async () => {
  await Promise.all([one!.stop(), other!.stop()])
  await domains.stop()
  await database.drop()
})

const add = (organizationId: string, userName: string, by = one!) =>
  addMachineUser(
    by,
    { userId: `${userName}-${organizationId}`.toLowerCase(), userName, name: 'N', description: '', accessTokenType: 0 },
    callIn(organizationId),
  )
const rename = (userId: string, userName: string) =>
  updateUserName.handle(one!, { userId, userName }, callIn(userId.split('-')[1]!))
const remove = (userId: string) =>
  one!.store.execute({
    aggregate: { type: 'user', id: userId },
    call: callIn(''),
    decide: ({ state, organizationId }) => removedUser(state as User, organizationId),
  })
const holderOf = async (name: string, by = other!) => (await findLoginUser(by, name, callIn('')))?.userId

test('of forty users of one name at once, over two replicas, all are added and one has the bare name', async () => {
  const organizations = Array.from({ length: 40 }, (_, index) => `o${index}`)
  await Promise.all(organizations.map((organization, index) => add(organization, 'rush', index % 2 ? one : other)))
  const rows = await one!.sql`select scope from first_keys where key = ${one!.personal.storedKey('user_name', 'rush')}`
  expect(rows).toHaveLength(1)
  expect(await holderOf('RUSH')).toBe(`rush-${rows[0]!['scope']}`)
})

test('a user keeps a name with a character that cannot be seen', async () => {
  await add('a', 'o\u00addd')
  await add('b', 'odd')
  const holders = await Promise.all(['o\u00addd', 'odd', ' od\u00add'].map((name) => holderOf(name)))
  expect(holders).toEqual(['o\u00addd-a', 'odd-b', 'odd-b'])
})

test('a bare name is that of the first, until it is given up; then it waits for the next claim', async () => {
  await add('b', 'old')
  await add('a', 'OLD')
  await add('c', 'late')
  await add('a', 'renamed')
  await add('b', 'renamed')
  await rename('renamed-a', 'elsewhere')
  await rename('renamed-a', 'renamed')
  const holders = await Promise.all(['old', 'late', 'renamed', 'elsewhere'].map((name) => holderOf(name)))
  expect(holders).toEqual(['old-b', 'late-c', 'renamed-a', undefined])

  await remove('old-b')
  expect(await holderOf('old')).toBeUndefined()
  await add('d', 'old')
  expect(await holderOf('old')).toBe('old-d')
})
