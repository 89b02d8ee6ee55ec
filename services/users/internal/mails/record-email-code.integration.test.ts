import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { callIn, openUsers, type TestUsers } from '../../testing/test-users.ts'
import { addHumanUser } from '../../directory/operations/user/add-human-user.ts'
import { setEmail } from '../../directory/operations/user/set-email.ts'
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
  recordEmailCode(users, { userId, codeId, kind: 0, mails: [], ...(failure !== undefined && { failure }) }, call)

test.each([
  ['was sent', 'sent', undefined],
  ['failed', 'failed', '550'],
])('that a mail %s is recorded once, and the user stays at its sequence', async (_, end, failure) => {
  const { userId, codeId } = await newHuman()
  const before = await users.store.load('user', userId)
  await Promise.all([record(userId, codeId, failure), record(userId, codeId, failure)])
  await record(userId, codeId, 'something else')
  expect(await marks(userId)).toEqual([`user.email.code.${end}`])
  expect(await users.store.load('user', userId)).toEqual({ ...before, readAt: expect.any(Date) })
})

test('a code whose mail was sent is neither swept nor mailed again, whatever else changes at the user', async () => {
  const { userId, codeId } = await newHuman()
  expect((await getEmailCode(users, { userId, codeId, kind: 0, mails: [] })).code).toBeDefined()
  await record(userId, codeId)
  await users.store.execute({
    aggregate: { type: 'user', id: userId },
    call,
    decide: () => ({ events: [{ type: 'locked', payload: {} }], answer: undefined }),
  })
  expect(await unsent(userId)).toBeUndefined()
  expect(await getEmailCode(users, { userId, codeId, kind: 0, mails: [] })).toEqual({
    contents: [],
    time: expect.any(Date),
  })
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
  expect(await getEmailCode(users, { userId, codeId, kind: 0, mails: [] })).toEqual({
    contents: [],
    time: expect.any(Date),
  })
})

test('a waiting mail of a kind that only a later version knows keeps no other from being listed', async () => {
  const [{ userId }, other] = await Promise.all([newHuman(), newHuman()])
  await users.sql`
    insert into unsent_mails (mail_id, user_id, kind, requested_at, expires_at)
    values (${randomUUID()}, ${userId}, 'of-a-later-version', roster_now(), roster_now() + interval '1 hour')
  `
  const { codes } = await listUnsentEmailCodes(users, { limit: 5000 })
  expect(codes.filter((code) => code.userId === userId).map(({ kind }) => kind)).toEqual([1])
  expect(await unsent(other.userId)).toBe(other.codeId)
})

test('many mails are read and recorded by one call, each because of its own event', async () => {
  const humans = await Promise.all([newHuman(), newHuman(), newHuman()])
  const none = { userId: '', codeId: '', kind: 0 } as const
  const mails = humans.map((human) => ({ ...human, kind: 0 as const }))
  const { contents } = await getEmailCode(users, { ...none, mails: [...mails, { ...mails[0]!, codeId: 'gone' }] })
  expect(contents.map(({ code }) => typeof code?.code)).toEqual(['string', 'string', 'string', 'undefined'])
  expect(new Set(contents.slice(0, 3).map(({ code }) => code!.email)).size).toBe(3)

  const ends = mails.map((mail, n) => ({
    ...mail,
    cause: `users-${n}`,
    traceparent: '',
    ...(n === 2 && { failure: '550' }),
  }))
  expect(await recordEmailCode(users, { ...none, mails: ends }, call)).toEqual({ recorded: [true, true, true] })
  expect((await Promise.all(humans.map(({ userId }) => marks(userId)))).flat()).toEqual([
    'user.email.code.sent',
    'user.email.code.sent',
    'user.email.code.failed',
  ])
  const rows = await users.sql<{ cause: string; request_id: string }[]>`
    select cause, request_id from events where aggregate_id = any(${humans.map(({ userId }) => userId)})
      and aggregate_type = 'user.email.code' order by cause
  `
  expect(rows.map(({ cause }) => cause)).toEqual(['users-0', 'users-1', 'users-2'])
  expect(rows.map((row) => row.request_id)).toEqual(humans.map(({ codeId }) => codeId))
})

test('a mail whose work fails holds up no other of the same call', async () => {
  const [broken, sound] = await Promise.all([newHuman(), newHuman()])
  const store: typeof users.store = {
    ...users.store,
    load: (type, id) => (id === broken.userId ? Promise.reject(new Error('broken')) : users.store.load(type, id)),
    execute: (command) =>
      command.aggregate.id === broken.userId ? Promise.reject(new Error('broken')) : users.store.execute(command),
  }
  const none = { userId: '', codeId: '', kind: 0 } as const
  const mails = [broken, sound].map((human) => ({ ...human, kind: 0 as const, cause: '', traceparent: '' }))
  const { contents } = await getEmailCode({ ...users, store }, { ...none, mails })
  expect(contents).toEqual([{ unknown: true }, { unknown: false, code: expect.anything() as unknown }])
  const { recorded } = await recordEmailCode({ ...users, store }, { ...none, mails }, call)
  expect(recorded).toEqual([false, true])
  await expect(getEmailCode({ ...users, store }, { ...none, mails: mails.slice(0, 1) })).rejects.toThrow('broken')
})
