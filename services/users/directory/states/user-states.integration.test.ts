import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { callFunction } from '#lib/database/database'
import { createStore } from '#lib/eventstore/store'
import { createHold } from '#test/support/hold'
import { addHumanUser } from '../operations/user/add-human-user.ts'
import { authenticate } from '../../internal/authenticate.ts'
import { callIn, openUsers, type TestUsers, signInBy } from '../../testing/test-users.ts'
import { hashToken, newToken, storeToken } from '../tokens/token.ts'
import { model } from '../../model.ts'
import type { UserEvent } from '../events/user.ts'

let database: TestDatabase
let users: TestUsers
const slow = createHold()

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
})
afterAll(async () => {
  await users?.stop()
  await database?.drop()
})

const newHuman = (userName: string) =>
  addHumanUser.handle(
    users,
    {
      userId: userName,
      userName,
      password: 'violet umbrella',
      profile: { firstName: 'Secret', lastName: 'Person', preferredLanguage: '', gender: 0 },
      email: { email: 'secret@example.com', verification: undefined },
    },
    callIn('acme'),
  )

const happens = (id: string, type: UserEvent['type']) =>
  users.store.execute({
    aggregate: { type: 'user', id },
    call: callIn('acme'),
    decide: () => ({ events: [{ type, payload: {} }], answer: undefined }),
  })

const signIn = (loginName: string, context = users) =>
  signInBy(context, { loginName, password: 'violet umbrella' }, { ...callIn(''), clientAddress: loginName })

const holder = (token: string) =>
  authenticate(users, { tokenHash: hashToken(token) }, callIn('')).then(
    ({ userId }) => userId,
    (error: { reason: string }) => error.reason,
  )

/** A token that belongs to no session. */
async function newPersonalToken(userId: string): Promise<string> {
  const token = newToken()
  const facts = { userId, organizationId: 'acme', human: false, sessionId: '', expiresAt: null }
  const { calls, row } = storeToken(token, facts)
  await users.sql.begin((sql) => callFunction(sql, calls([row])[0]!))
  return token
}

describe.each([
  ['deactivated', 'reactivated'],
  ['locked', 'unlocked'],
] as const)('a user who is %s', (ended, back) => {
  test('loses its sessions, and its personal access tokens are refused until it is active again', async () => {
    const userId = `user-${ended}`
    await newHuman(userId)
    const [{ sessionToken }, personal] = [await signIn(userId), await newPersonalToken(userId)]
    expect([await holder(sessionToken), await holder(personal)]).toEqual([userId, userId])
    await happens(userId, ended)
    expect([await holder(sessionToken), await holder(personal)]).toEqual(['TOKEN_INVALID', 'TOKEN_INVALID'])
    await happens(userId, back)
    expect([await holder(sessionToken), await holder(personal)]).toEqual(['TOKEN_INVALID', userId])
  })

  test('gets no session from a sign-in that was decided before and is stored after', async () => {
    const userId = `late-${ended}`
    await newHuman(userId)
    const store = createStore(slow.wrap(users.sql), model, users.log, () => {}, undefined, users)
    const { arrived, release } = slow.hold()
    const late = signIn(userId, { ...users, store })
    await arrived
    await happens(userId, ended)
    release()
    await expect(late).rejects.toMatchObject({ reason: 'CREDENTIALS_INVALID' })
    expect(await users.sql`select 1 from tokens where user_id = ${userId}`).toHaveLength(0)
  })
})
