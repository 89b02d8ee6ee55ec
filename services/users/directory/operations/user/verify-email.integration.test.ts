import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import type { RosterError } from '#lib/errors'
import { keepAnswers } from '#lib/eventstore/idempotent-answers'
import { type Answers, onceId } from '#lib/rpc/idempotency'
import { createStore } from '#lib/eventstore/store'
import { counting } from '#test/support/publishing'
import { addHumanUser } from './add-human-user.ts'
import { addMachineUser } from './add-machine-user.ts'
import { verifyEmail } from './verify-email.ts'
import { callIn, openUsers, type TestUsers } from '../../../testing/test-users.ts'
import { model } from '../../../model.ts'

let database: TestDatabase
let users: TestUsers
let answers: Answers
let statements = 0
let macs = 0

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  const sql = counting(users.sql, () => statements++)
  answers = keepAnswers(sql, users.keys, users.log)
  const store = createStore(sql, model, users.log, () => {}, answers, users)
  const { keys } = users
  const mac: typeof keys.mac = (...args) => (macs++, keys.mac(...args))
  users = { ...users, store, keys: { ...keys, mac } }
})
afterAll(async () => {
  answers?.stop()
  await users?.stop()
  await database?.drop()
})

async function newHuman(isVerified: boolean) {
  const profile = { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 as const }
  const verification = isVerified
    ? { $case: 'isVerified' as const, value: true }
    : { $case: 'returnCode' as const, value: {} }
  const email = { email: 'ada@example.com', verification }
  const { userId } = await addHumanUser.handle(users, { userName: randomUUID(), profile, email }, callIn('acme'))
  return userId
}

/** The statements that a wrong code costs, and whether its answer was stored before; keyed as `serve` does it. */
async function cost(userId: string, key?: string) {
  ;[statements, macs] = [0, 0]
  const request = { userId, verificationCode: 'WRONG2' }
  const work = (once?: object) =>
    verifyEmail(users, request, { ...callIn('acme'), ...once }).then(() => Buffer.from('made'))
  const once = { id: onceId([key ?? '']), request: userId, encode: () => Buffer.from('made') }
  const error = await (key === undefined ? work() : answers.once(once, () => work({ once }))).then(
    () => undefined,
    (thrown: RosterError) => thrown,
  )
  return { reason: error!.reason, replayed: error!.replayed ?? false, statements, macs }
}

describe('a wrong code costs the same and is stored alike, whether the user or a code exists or not', () => {
  test.each([
    ['once', false],
    ['under an Idempotency-Key, once and again', true],
  ])('%s', async (_, keyed) => {
    const machine = { userName: randomUUID(), name: 'M', description: '', accessTokenType: 0 as const }
    const all = {
      'a user with a living code': await newHuman(false),
      'a user whose code is dead': await newHuman(false),
      'a verified user': await newHuman(true),
      'a machine': (await addMachineUser(users, machine, callIn('acme'))).userId,
      'an unknown id': randomUUID(),
    }
    for (let n = 0; n < 5; n++) await cost(all['a user whose code is dead'])
    for (const [who, userId] of Object.entries(all)) {
      const key = keyed ? randomUUID() : undefined
      const first = await cost(userId, key)
      // A look, the look of the decision, and its transaction; with a key, also a look for an earlier answer.
      expect({ who, ...first }).toMatchObject({
        who,
        reason: 'CODE_INVALID',
        replayed: false,
        statements: keyed ? 4 : 3,
      })
      expect({ who, macs: first.macs }).toEqual({ who, macs: 2 })
      if (keyed) expect({ who, ...(await cost(userId, key)) }).toMatchObject({ who, replayed: true, statements: 1 })
    }
  })
})
