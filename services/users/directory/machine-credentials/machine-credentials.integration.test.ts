import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { callFunction } from '#lib/database/database'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { bootstrap } from '../../bootstrap.ts'
import { findKey, findSecret } from './machine-credentials.ts'
import { warnOfExpiry } from './expiry-warnings.ts'
import { addMachineKey } from '../operations/credential/add-machine-key.ts'
import { addMachineSecret } from '../operations/credential/add-machine-secret.ts'
import { addMachineUser } from '../operations/user/add-machine-user.ts'
import { addPersonalAccessToken } from '../operations/credential/add-personal-access-token.ts'
import { authenticate } from '../../internal/authenticate.ts'
import { generateMachineSecret } from '../operations/credential/generate-machine-secret.ts'
import { listMachineKeys } from '../operations/credential/list-machine-keys.ts'
import { listMachineSecrets } from '../operations/credential/list-machine-secrets.ts'
import { listPersonalAccessTokens } from '../operations/credential/list-personal-access-tokens.ts'
import { checkExpiry } from './new-credential.ts'
import { removeMachineKey } from '../operations/credential/remove-machine-key.ts'
import { removeMachineSecrets } from '../operations/credential/remove-machine-secrets.ts'
import { removeMachineSecret } from '../operations/credential/remove-machine-secret.ts'
import { removePersonalAccessToken } from '../operations/credential/remove-personal-access-token.ts'
import { callIn, openUsers, type TestUsers } from '../../testing/test-users.ts'
import { newToken, storeToken } from '../tokens/token.ts'
import type { User } from '../events/user.ts'

const day = 86_400_000
let database: TestDatabase
let replicas: TestUsers[]
let users: TestUsers
let userId: string

beforeEach(async () => {
  database = await createDatabase()
  replicas = [await openUsers(database.urls.users), await openUsers(database.urls.users)]
  users = replicas[0]!
  const request = { userName: 'robot', name: 'R', description: '', accessTokenType: 0 as const }
  userId = (await addMachineUser(users, request, callIn('home'))).userId
})

afterEach(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()))
  await database.drop()
})

const call = () => callIn('home')
const inDays = (days: number) => new Date(Date.now() + days * day)
const addToken = (expirationDate?: Date) => addPersonalAccessToken.handle(users, { userId, expirationDate }, call())
const addSecret = (expirationDate?: Date) => addMachineSecret.handle(users, { userId, expirationDate }, call())
const addKey = (expirationDate?: Date) =>
  addMachineKey.handle(users, { userId, expirationDate, type: 0, algorithm: 2 }, call())
const machine = async () => (await users.store.load<User>('user', userId))?.state
const works = (token: string) =>
  authenticate(users, { tokenHash: createHash('sha256').update(token).digest() }, call()).then(
    () => true,
    () => false,
  )
const warnings = async () =>
  (
    await users.sql<
      { payload: object }[]
    >`select payload from events where type = 'credential.expiring' order by position`
  ).map(({ payload }) => payload)

/** A token, stored as by the token endpoint for a machine that signed in with this credential. */
async function obtainWith(credentialId: string): Promise<string> {
  const token = newToken()
  const facts = { userId, organizationId: 'home', human: false, sessionId: '', credentialId, expiresAt: inDays(1) }
  const { calls, row } = storeToken(token, facts)
  await users.sql.begin((sql) => callFunction(sql, calls([row])[0]!))
  return token
}

describe('a credential whose end has come', () => {
  test.each([
    { kind: 'pat', most: 20, add: addToken, list: listPersonalAccessTokens, shown: 'tokens' },
    { kind: 'key', most: 20, add: addKey, list: listMachineKeys, shown: 'keys' },
    { kind: 'secret', most: 2, add: addSecret, list: listMachineSecrets, shown: 'secrets' },
  ] as const)('makes room for another $kind, and is not listed', async ({ most, add, list, shown }) => {
    await add(inDays(1))
    for (let n = 1; n < most; n++) await add()
    await expect(add()).rejects.toThrow('already')
    await shiftClock(users.sql, '1 day')
    await add()
    await expect(add()).rejects.toThrow('already')
    const listed = (await list(users, { userId })) as unknown as Record<string, unknown[]>
    expect(listed[shown]).toHaveLength(most)
  })

  test('must be in the future, by the clock of PostgreSQL', async () => {
    await shiftClock(users.sql, '2 days')
    const ends = async (days: number) =>
      (await checkExpiry(users, { userId, expirationDate: inDays(days) }, call())).map(({ field }) => field)
    expect(await ends(1)).toEqual(['expirationDate'])
    expect(await ends(3)).toEqual([])
  })
})

describe('the warning before an end', () => {
  test('is given 14 days before, not earlier, and once, however many replicas look for it', async () => {
    const end = inDays(30)
    const added = [await addToken(end), await addKey(end), await addSecret(end)] as const
    await addToken()
    const due = end.getTime() - 14 * day
    await warnOfExpiry(users, new Date(due - 1))
    expect(await warnings()).toEqual([])
    for (let round = 0; round < 3; round++)
      await Promise.all(replicas.map((replica) => warnOfExpiry(replica, new Date(due + round * 60_000))))
    const expiresAt = end.toISOString()
    const given = await warnings()
    expect(given).toHaveLength(3)
    expect(given).toEqual(
      expect.arrayContaining([
        { kind: 'pat', credentialId: added[0].tokenId, expiresAt },
        { kind: 'key', credentialId: added[1].keyId, expiresAt },
        { kind: 'secret', credentialId: added[2].secretId, expiresAt },
      ]),
    )
    expect(await users.sql`select * from expiring_credentials`).toHaveLength(0)
  })

  test('is given at once if less than 14 days are left', async () => {
    const end = inDays(13)
    const { tokenId } = await addToken(end)
    expect(await warnings()).toEqual([{ kind: 'pat', credentialId: tokenId, expiresAt: end.toISOString() }])
    await warnOfExpiry(users, inDays(12))
    expect(await warnings()).toHaveLength(1)
  })

  test('is not given for a removed credential, nor for one that ended unseen', async () => {
    const { tokenId } = await addToken(inDays(30))
    await removePersonalAccessToken.handle(users, { userId, tokenId }, call())
    await addSecret(inDays(30))
    await warnOfExpiry(users, inDays(31))
    expect(await warnings()).toEqual([])
    expect(await users.sql`select * from expiring_credentials`).toHaveLength(0)
  })
})

describe('the end of a credential ends, at once, every token obtained with it, and nothing else:', () => {
  test('a secret', async () => {
    const [removed, kept] = [await addSecret(), await addSecret()]
    const tokens = [await obtainWith(removed.secretId), await obtainWith(kept.secretId)]
    await removeMachineSecret.handle(users, { userId, secretId: removed.secretId }, call())
    expect(await Promise.all(tokens.map(works))).toEqual([false, true])
    expect(await users.sql`select id from machine_secrets`).toEqual([{ id: kept.secretId }])
  })

  test('secrets in whose place another one is made, and all secrets', async () => {
    const former = [await addSecret(), await addSecret()]
    const tokens = await Promise.all(former.map((secret) => obtainWith(secret.secretId)))
    const { secretId } = await generateMachineSecret.handle(users, { userId }, call())
    tokens.push(await obtainWith(secretId))
    expect(await Promise.all(tokens.map(works))).toEqual([false, false, true])
    expect(await users.sql`select id from machine_secrets`).toEqual([{ id: secretId }])
    await removeMachineSecrets.handle(users, { userId }, call())
    expect(await works(tokens[2]!)).toBe(false)
  })

  test('a key', async () => {
    const [removed, kept] = [await addKey(), await addKey()]
    const tokens = [await obtainWith(removed.keyId), await obtainWith(kept.keyId)]
    await removeMachineKey.handle(users, { userId, keyId: removed.keyId }, call())
    expect(await Promise.all(tokens.map(works))).toEqual([false, true])
    expect(findKey(await machine(), removed.keyId, new Date())).toBeUndefined()
    expect(findKey(await machine(), kept.keyId, new Date())).toMatchObject({ algorithm: 'ES256' })
  })

  test('a personal access token', async () => {
    const [removed, kept] = [await addToken(), await addToken()]
    await removePersonalAccessToken.handle(users, { userId, tokenId: removed.tokenId }, call())
    expect(await Promise.all([removed, kept].map(({ token }) => works(token)))).toEqual([false, true])
  })
})

describe('a presented secret', () => {
  test('is found only among the living secrets of its own user', async () => {
    const end = inDays(1)
    const [lasting, ending] = [await addSecret(), await addSecret(end)]
    const found = async (secret: string, at = new Date()) =>
      (await findSecret(users.sql, await machine(), secret, at))?.id
    expect(await found(lasting.clientSecret)).toBe(lasting.secretId)
    expect(await found(ending.clientSecret)).toBe(ending.secretId)
    expect(await found(ending.clientSecret, end)).toBeUndefined()
    for (const wrong of ['', 'wrong', lasting.clientSecret.slice(0, -1), `${lasting.clientSecret}A`])
      expect(await found(wrong)).toBeUndefined()
    expect(await findSecret(users.sql, undefined, lasting.clientSecret, new Date())).toBeUndefined()
    const other = { userName: 'other', name: 'O', description: '', accessTokenType: 0 as const }
    const { userId: otherId } = await addMachineUser(users, other, call())
    const stranger = (await users.store.load<User>('user', otherId))?.state
    expect(await findSecret(users.sql, stranger, lasting.clientSecret, new Date())).toBeUndefined()
  })
})

test('the first administrator’s token of an older Roster becomes listed, and can be removed', async () => {
  await bootstrap(users)
  const machineId = 'admin-machine'
  await users.sql`update tokens set credential_id = '' where user_id = ${machineId}`
  const { state } = (await users.store.load<User>('user', machineId))!
  const former = { ...state, machine: { ...state.machine, credentials: undefined } }
  await users.sql`update aggregates set state = ${users.sql.json(former as never)} where id = ${machineId}`
  await Promise.all(replicas.map((replica) => bootstrap(replica)))
  const { tokens } = await listPersonalAccessTokens(users, { userId: machineId })
  expect(tokens).toHaveLength(1)
  await removePersonalAccessToken.handle(users, { userId: machineId, tokenId: tokens[0]!.tokenId }, call())
  expect(await users.sql`select from tokens where user_id = ${machineId}`).toHaveLength(0)
})
