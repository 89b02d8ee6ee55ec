import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { callIn, openUsers, type TestUsers } from '../../test-users.ts'
import { addHumanUser } from '../user/add-human-user.ts'
import { setEmail } from '../user/set-email.ts'
import { getEmailCode } from './get-email-code.ts'
import { listUnsentEmailCodes } from './list-unsent-email-codes.ts'
import { recordEmailCode } from './record-email-code.ts'

let database: TestDatabase
let users: TestUsers
const call = callIn('acme')

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
})
afterAll(async () => {
  await users?.stop()
  await database?.drop()
})

/** A human with a code that is to be mailed. */
async function newHuman() {
  const profile = { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 as const }
  const request = { userName: randomUUID(), profile, email: { email: `${randomUUID()}@example.com` } }
  const { userId } = await addHumanUser.handle(users, request, call)
  return { userId, codeId: (await unsent(userId))! }
}

async function unsent(userId: string): Promise<string | undefined> {
  const { codes } = await listUnsentEmailCodes(users, { limit: 5000 })
  return codes.find((code) => code.userId === userId)?.codeId
}

async function marks(userId: string): Promise<string[]> {
  const rows = await users.sql<{ type: string }[]>`
    select aggregate_type || '.' || type as type from events
    where aggregate_id = ${userId} and aggregate_type || '.' || type ~ '^user.email.code.(sent|failed)$'
    order by position
  `
  return rows.map(({ type }) => type)
}

const record = (userId: string, codeId: string, failure?: string) =>
  recordEmailCode(users, { userId, codeId, kind: 0, ...(failure !== undefined && { failure }) }, call)

test.each([
  ['was sent', 'sent', undefined],
  ['failed', 'failed', '550'],
])('that a mail %s is recorded once, and the user stays at its sequence', async (_, end, failure) => {
  const { userId, codeId } = await newHuman()
  const before = await users.store.load('user', userId)
  await Promise.all([record(userId, codeId, failure), record(userId, codeId, failure)])
  await record(userId, codeId, 'something else')
  expect(await marks(userId)).toEqual([`user.email.code.${end}`])
  expect(await users.store.load('user', userId)).toEqual(before)
})

test('a code whose mail was sent is neither swept nor mailed again, whatever else changes at the user', async () => {
  const { userId, codeId } = await newHuman()
  expect((await getEmailCode(users, { userId, codeId, kind: 0 })).code).toBeDefined()
  await record(userId, codeId)
  await users.store.execute({
    aggregate: { type: 'user', id: userId },
    call,
    decide: () => ({ events: [{ type: 'locked', payload: {} }], answer: undefined }),
  })
  expect(await unsent(userId)).toBeUndefined()
  expect(await getEmailCode(users, { userId, codeId, kind: 0 })).toEqual({})
})

test('the mail of a code that was replaced is not recorded, and the new code still awaits its own', async () => {
  const { userId, codeId } = await newHuman()
  const request = { userId, email: `${randomUUID()}@example.com`, verification: undefined }
  await setEmail.handle(users, request, call)
  await record(userId, codeId)
  expect(await marks(userId)).toEqual([])
  const next = await unsent(userId)
  expect(next).not.toBe(codeId)
  await record(userId, next!)
  expect(await marks(userId)).toEqual(['user.email.code.sent'])
})

test('a mail that an earlier version recorded at the user is not recorded or mailed again', async () => {
  const { userId, codeId } = await newHuman()
  await users.store.execute({
    aggregate: { type: 'user', id: userId },
    call,
    decide: () => ({ events: [{ type: 'email.code.sent', payload: { codeId } }], answer: undefined }),
  })
  await record(userId, codeId)
  expect(await marks(userId)).toEqual(['user.email.code.sent'])
  expect(await unsent(userId)).toBeUndefined()
  expect(await getEmailCode(users, { userId, codeId, kind: 0 })).toEqual({})
})
