import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readNow } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { endSessions } from '../../../../operator/end-sessions.ts'
import { addPerson } from '../../openid/authorization/testing/visitors.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { deriveCode, newCode } from '../email/code.ts'
import { saltCodes } from '../email/salt-codes.ts'
import { signInType } from '../events/sign-in.ts'
import { deleteUser } from '../operations/user/delete-user.ts'
import { type Binding, countTry, findCode, keepCode, type OneTimeCode, usingUpCode } from './one-time-codes.ts'
import { purposes } from './purposes.ts'

let database: TestDatabase
let users: TestUsers
let other: TestUsers
let grants: { stop(): Promise<void> }

const kind = 'otp-email'
const address = 'ada@example.com'
const lifetime = 600
const lost = new RosterError('NOT_FOUND', 'SESSION_NOT_FOUND', '')

beforeAll(async () => {
  database = await createDatabase()
  ;[users, grants] = await Promise.all([openUsers(database.urls.users), serveDomains({})])
  other = await openUsers(database.urls.users)
}, 60_000)
afterAll(async () => {
  await Promise.all([users?.stop(), other?.stop(), grants?.stop()])
  await database?.drop()
})

const newBinding = (more: Partial<Binding> = {}) => ({ userId: randomUUID(), purpose: randomUUID(), ...more })
const find = (binding: Binding) => findCode(users, kind, binding)

async function keep(binding: Binding, detail = {}, by = users): Promise<string> {
  const code = newCode(randomUUID(), by.keys, lifetime, await readNow(by.sql))
  await by.sql.begin((sql) => keepCode(by.keys, kind, { code, ...binding, detail })(sql))
  return code.codeId
}

/** Uses a code up beside an event, such as that of a session. */
async function use(code: OneTimeCode, by = users): Promise<'used' | 'lost'> {
  const { write, guard } = usingUpCode(code, lost)
  const using = by.store.execute({
    aggregate: { type: signInType, id: randomUUID() },
    call: { caller: { userId: '' }, requestId: 'test', deadline: Date.now() + 2e4 },
    decide: () => ({
      organizationId: 'acme',
      events: [{ type: 'failed', payload: {} }],
      writes: [write],
      guards: [guard],
      answer: undefined,
    }),
  })
  return using.then(
    () => 'used',
    (error: unknown) => {
      if (error !== lost) throw error
      return 'lost'
    },
  )
}

test('a code comes back with its facts, by what it is bound to or by its id, and no row has it or an address', async () => {
  const binding = newBinding({ browserId: randomUUID() })
  const codeId = await keep(binding, { email: address })
  const found = (await find(binding))!
  expect(found).toMatchObject({ ...binding, kind, tries: 0, detail: { email: address }, code: { codeId } })
  expect(await findCode(users, kind, { codeId })).toEqual(found)
  expect(Date.parse(found.code.expiresAt) - (await readNow(users.sql)).getTime()).toBeLessThanOrEqual(lifetime * 1000)
  const text = deriveCode(users.keys, found.code, binding.userId, address, kind)
  const [row] = await users.sql`
    select secrets::text as plain, encode(detail, 'escape') as detail from secrets where id = ${codeId}
  `
  expect(JSON.stringify(row)).not.toMatch(new RegExp(`${address}|${text}`, 'i'))
})

test('a code counts for its user, its purpose and its browser alone', async () => {
  const [bound, unbound] = [newBinding({ browserId: randomUUID() }), newBinding()]
  const codeId = await keep(bound)
  await keep(unbound)
  const { userId, purpose, browserId } = bound
  const others = [
    { ...bound, userId: unbound.userId },
    { ...bound, purpose: unbound.purpose },
    { ...bound, browserId: randomUUID() },
    { userId, purpose },
    { ...unbound, browserId: bound.browserId },
  ]
  for (const binding of others) {
    expect(await find(binding)).toBeUndefined()
    expect(await countTry(users, kind, binding)).toBeUndefined()
  }
  // Whoever names it by its id has to be in its place as well.
  for (const place of [{ purpose: unbound.purpose, browserId }, { purpose, browserId: randomUUID() }, { purpose }])
    expect(await countTry(users, kind, { codeId, ...place })).toBeUndefined()
  expect(await find(bound)).toMatchObject({ tries: 0 })
  expect(await find(unbound)).toMatchObject({ tries: 0 })
  expect(await countTry(users, kind, { codeId, purpose, browserId })).toMatchObject({ userId, tries: 1 })
})

test('a further code replaces the one before it, with tries of its own, also where many are made at once', async () => {
  const binding = newBinding({ browserId: randomUUID() })
  const { userId, purpose } = binding
  const apart = newBinding({ userId })
  await keep(apart)
  const former = await keep(binding)
  const found = (await countTry(users, kind, binding))!
  const codeId = await keep({ userId, purpose })
  expect(await find(binding)).toBeUndefined()
  expect(await findCode(users, kind, { codeId: former })).toBeUndefined()
  expect(await find({ userId, purpose })).toMatchObject({ tries: 0, code: { codeId } })
  expect(await use(found)).toBe('lost')
  expect(await find({ userId, purpose })).toMatchObject({ code: { codeId } })
  await Promise.all([users, other, users, other].map((by) => keep(binding, {}, by)))
  expect(await users.sql`select from secrets where user_id = ${userId} and purpose = ${purpose}`).toHaveLength(1)
  expect(await find(apart)).toBeDefined()
})

test("a code ends with its time, by PostgreSQL's clock", async () => {
  const binding = newBinding()
  const codeId = await keep(binding)
  try {
    await shiftClock(users.sql, `${lifetime - 30} seconds`)
    expect(await find(binding)).toBeDefined()
    await shiftClock(users.sql, `${lifetime + 1} seconds`)
    expect(await find(binding)).toBeUndefined()
    expect(await findCode(users, kind, { codeId })).toBeUndefined()
    expect(await countTry(users, kind, binding)).toBeUndefined()
  } finally {
    await shiftClock(users.sql, '0 seconds')
  }
})

test('a code has five tries, also where many come at once at several replicas', async () => {
  const binding = newBinding()
  await keep(binding)
  const tries = await Promise.all(
    Array.from({ length: 40 }, (_, n) => countTry(n % 2 === 0 ? users : other, kind, binding)),
  )
  expect(tries.flatMap((code) => code?.tries ?? []).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5])
  expect(await find(binding)).toBeUndefined()
  // The fifth may be the right one.
  expect(await use(tries.find((code) => code?.tries === 5)!)).toBe('used')
})

test('a code is used once, whoever else uses it at the same time', async () => {
  const binding = newBinding()
  await keep(binding)
  const code = (await countTry(users, kind, binding))!
  const uses = await Promise.all([users, other, users, other].map((by) => use(code, by)))
  expect(uses.toSorted()).toEqual(['lost', 'lost', 'lost', 'used'])
  expect(await countTry(users, kind, binding)).toBeUndefined()
  expect(await use(code)).toBe('lost')
})

test('a user has ten codes of a kind at a time: those that end first make place', async () => {
  const bindings = Array.from({ length: 12 }, () => newBinding({ userId: 'busy' }))
  const apart = newBinding()
  await keep(apart)
  for (const binding of bindings.slice(0, 11)) await keep(binding)
  const living = async () => (await Promise.all(bindings.map(find))).map((code) => code !== undefined)
  expect(await living()).toEqual([false, ...Array<boolean>(10).fill(true), false])
  // A further one for the same takes no place.
  await keep(bindings[10]!)
  expect((await living()).filter(Boolean)).toHaveLength(10)
  await keep(bindings[11]!)
  expect(await living()).toEqual([false, false, ...Array<boolean>(10).fill(true)])
  const many = Array.from({ length: 30 }, () => newBinding({ userId: 'hasty' }))
  await Promise.all(many.map((binding, n) => keep(binding, {}, n % 2 === 0 ? users : other)))
  expect(await users.sql`select from secrets where user_id = 'hasty'`).toHaveLength(10)
  expect(await find(apart)).toBeDefined()
})

test('the codes of a removed user are gone', async () => {
  const binding = newBinding({ userId: await addPerson(users, 'ada') })
  await keep(binding)
  await deleteUser(users, { userId: binding.userId, forgetNow: true }, callIn('acme'))
  expect(await users.sql`select from secrets where user_id = ${binding.userId}`).toHaveLength(0)
})

test('after a restore no code is left, and no one-time secret of the table is what it was', async () => {
  const binding = newBinding()
  const codeId = await keep(binding)
  const former = await saltCodes(users.sql, users.keys)
  await Promise.all([users.stop(), other.stop()])
  const sql = postgres(database.urls.users, { max: 1 })
  await endSessions({ sql: () => sql })
  await sql.end()
  ;[users, other] = [await openUsers(database.urls.users), await openUsers(database.urls.users)]
  expect(await find(binding)).toBeUndefined()
  expect(await findCode(users, kind, { codeId })).toBeUndefined()
  const salted = await saltCodes(users.sql, users.keys)
  const isSame = (purpose: string) => {
    const [before, now] = [former, salted].map((keys) => keys.mac(purpose, keys.currentId, ['a']).toString('hex'))
    return before === now
  }
  expect(Object.keys(purposes).filter(isSame)).toEqual([])
})
