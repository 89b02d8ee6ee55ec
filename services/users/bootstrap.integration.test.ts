import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { storeUnavailable } from '#lib/database/database'
import { bootstrap } from './bootstrap.ts'
import { authenticate } from './internal/authenticate.ts'
import { verifyPassword } from './directory/passwords/password-hashing.ts'
import { callIn, openUsers, type TestUsers } from './testing/test-users.ts'
import { createHash } from 'node:crypto'

let database: TestDatabase
let replicas: TestUsers[]

beforeEach(async () => {
  database = await createDatabase()
  const first = await openUsers(database.urls.users)
  const settings = { ROSTER_ADMIN_TOKEN_FILE: first.tokenFile }
  replicas = [first, await openUsers(database.urls.users, settings), await openUsers(database.urls.users, settings)]
})

afterEach(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()))
  await database.drop()
})

const read = (file: string) => readFileSync(file, 'utf8').trim()
const holderOf = (token: string) =>
  authenticate(replicas[0]!, { tokenHash: createHash('sha256').update(token).digest() }, callIn('default'))
const mode = (file: string) => statSync(file).mode & 0o777
const passwordFile = () => join(dirname(replicas[0]!.tokenFile), 'admin-password')
const counts = async () =>
  (
    await replicas[0]!.sql`
      select (select count(*)::int from events) as events, (select count(*)::int from tokens) as tokens,
        (select count(*)::int from passwords) as passwords
    `
  )[0]

test('three replicas that start at once make each administrator once, and the token in the file works', async () => {
  await Promise.all(replicas.map((replica) => bootstrap(replica)))
  expect(await counts()).toEqual({ events: 3, tokens: 1, passwords: 1 })
  expect(await holderOf(read(replicas[0]!.tokenFile))).toMatchObject({
    userId: 'admin-machine',
    organizationId: 'default',
    human: false,
    sessionId: '',
    expirationDate: undefined,
  })
})

test('only the owner of a written file may read it', async () => {
  await bootstrap(replicas[0]!)
  expect([mode(replicas[0]!.tokenFile), mode(passwordFile())]).toEqual([0o600, 0o600])
})

test('an existing file that all may read is replaced by a closed one', async () => {
  mkdirSync(dirname(replicas[0]!.tokenFile), { recursive: true })
  writeFileSync(replicas[0]!.tokenFile, 'placeholder')
  chmodSync(replicas[0]!.tokenFile, 0o644)
  await bootstrap(replicas[0]!)
  expect(mode(replicas[0]!.tokenFile)).toBe(0o600)
  expect(await holderOf(read(replicas[0]!.tokenFile))).toMatchObject({ userId: 'admin-machine' })
})

test('later starts change nothing, even if the file was removed', async () => {
  await bootstrap(replicas[0]!)
  const token = read(replicas[0]!.tokenFile)
  const before = await counts()
  await Promise.all(replicas.map((replica) => bootstrap(replica)))
  expect(read(replicas[0]!.tokenFile)).toBe(token)
  rmSync(replicas[0]!.tokenFile)
  await bootstrap(replicas[1]!)
  expect(() => read(replicas[0]!.tokenFile)).toThrow('ENOENT')
  expect(await counts()).toEqual(before)
})

test('a removed administrator does not come back', async () => {
  await bootstrap(replicas[0]!)
  const token = read(replicas[0]!.tokenFile)
  for (const id of ['admin', 'admin-machine'])
    await replicas[0]!.store.execute({
      aggregate: { type: 'user', id },
      call: callIn('default'),
      decide: () => ({ events: [{ type: 'removed', payload: {} }], answer: undefined }),
    })
  await bootstrap(replicas[1]!)
  expect(await counts()).toEqual({ events: 5, tokens: 0, passwords: 0 })
  await expect(holderOf(token)).rejects.toThrow('not valid')
})

test('a start may die between the file and the commit: the next start replaces the file', async () => {
  const dying = {
    ...replicas[0]!,
    store: { ...replicas[0]!.store, execute: () => Promise.reject(new Error('killed')) },
  }
  await replicas[0]!.sql`select 1`
  await expect(bootstrap(dying)).rejects.toThrow('killed')
  const left = read(passwordFile())
  await bootstrap(replicas[1]!)
  expect(read(passwordFile())).not.toBe(left)
  const [row] = await replicas[0]!.sql<{ hash: string }[]>`select hash from passwords where user_id = 'admin'`
  expect(await verifyPassword(read(passwordFile()), row!.hash)).toBe(true)
  expect(await holderOf(read(replicas[0]!.tokenFile))).toMatchObject({ userId: 'admin-machine' })
})

test('a try that is stored late, without an answer, makes each administrator once', async () => {
  const [{ store }] = replicas as [TestUsers]
  const late: (() => Promise<unknown>)[] = []
  const execute: typeof store.execute = async (command) => {
    // The first try of each is stored after the next one has looked and seen nothing.
    for (const work of late.splice(0)) await work()
    if (tried.has(command.aggregate.id)) return store.execute(command)
    tried.add(command.aggregate.id)
    late.push(() => store.execute(command))
    throw storeUnavailable(Object.assign(new Error(), { code: 'ECONNRESET' }))
  }
  const tried = new Set<string>()
  await bootstrap({ ...replicas[0]!, store: { ...store, execute } })
  expect(await counts()).toEqual({ events: 3, tokens: 1, passwords: 1 })
  expect(await holderOf(read(replicas[0]!.tokenFile))).toMatchObject({ userId: 'admin-machine' })
})

test('a given password that is guessed first stops the first start, and is named by its setting', async () => {
  const given = await openUsers(database.urls.users, { ROSTER_ADMIN_PASSWORD: 'password' })
  replicas.push(given)
  await expect(bootstrap(given)).rejects.toThrow('ROSTER_ADMIN_PASSWORD')
  expect(await given.sql`select from passwords`).toHaveLength(0)
})

test('a given password is used and written nowhere', async () => {
  const given = await openUsers(database.urls.users, { ROSTER_ADMIN_PASSWORD: 'correct horse' })
  replicas.push(given)
  await bootstrap(given)
  const [row] = await given.sql<{ hash: string }[]>`select hash from passwords where user_id = 'admin'`
  expect(await verifyPassword('correct horse', row!.hash)).toBe(true)
  expect(() => statSync(join(dirname(given.tokenFile), 'admin-password'))).toThrow('ENOENT')
})

test('neither token nor password is in the database', async () => {
  await bootstrap(replicas[0]!)
  const rows = await replicas[0]!.sql<{ row: string }[]>`
    select e::text as row from events e union all select t::text from tokens t union all select p::text from passwords p
    union all select a::text from aggregates a
  `
  const all = rows.map(({ row }) => row).join('\n')
  expect(all).not.toContain(read(replicas[0]!.tokenFile))
  expect(all).not.toContain(read(passwordFile()))
})
