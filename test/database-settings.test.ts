import postgres from 'postgres'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Servers } from '../deploy/local/servers.ts'
import { openDatabase, type Sql } from '#lib/database/database'
import { proveSession } from '#lib/database/prove-session'
import { watchSession } from '#lib/database/watch-session'
import { createWaits } from '#lib/health/waits'
import { provision, storingServices } from '../deploy/provision.ts'
import { callJson } from './e2e/clients/json.ts'
import { type House, startHouse } from './house.ts'
import type { TestServers } from './infra.ts'
import { createDatabase, type TestDatabase } from './support/database.ts'
import { endOf } from './support/end-of.ts'
import { operatorSettings, runOperator } from './support/operator.ts'
import { startOwnNats } from './support/publishing.ts'
import { keepingLog, silent } from './support/rpc.ts'
import { testServers } from './support/servers.ts'

/** What a session can set, otherwise than the driver and our statements need it. */
const hostile: Record<string, string> = {
  client_encoding: 'LATIN1',
  datestyle: 'German, DMY',
  intervalstyle: 'sql_standard',
  timezone: 'Pacific/Apia',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  array_nulls: 'off',
  standard_conforming_strings: 'off',
  backslash_quote: 'off',
  quote_all_identifiers: 'on',
  transform_null_equals: 'on',
  row_security: 'off',
  gin_fuzzy_search_limit: '1',
  default_transaction_isolation: 'serializable',
  default_transaction_deferrable: 'on',
  exit_on_error: 'on',
  'plpgsql.extra_errors': 'all',
  synchronous_commit: 'off',
  statement_timeout: '1s',
  enable_seqscan: 'on',
  jit: 'on',
  search_path: 'public',
}

let servers: Servers
let database: TestDatabase
let admin: Sql
let house: House
beforeAll(async () => {
  ;[servers, database] = await Promise.all([startOwnNats(), createDatabase()])
  admin = postgres(database.adminUrl, { max: 1, onnotice: () => {} })
  await set(database, hostile)
  house = await startHouse(
    database.urls,
    {},
    { servers: { ...servers, databasePasswords: {} as never, serviceDatabaseUrls: {} as never } },
  )
})
afterAll(async () => {
  await house?.stop()
  await admin?.end()
  await Promise.all([database?.drop(), servers?.stop()])
})

/** Sets these for the database, and for each role in it. */
async function set(of: TestDatabase, settings: Record<string, string>) {
  const name = new URL(of.adminUrl).pathname.slice(1)
  const roles = storingServices.flatMap((service) => [`roster_${service}`, `roster_operator_${service}`])
  for (const [setting, value] of Object.entries(settings))
    for (const target of [`database ${name}`, ...roles.map((role) => `role ${role} in database ${name}`)])
      await admin.unsafe(`alter ${target} set ${setting} = '${value}'`)
}

test('a service answers rightly whatever its database and its role are set to', async () => {
  const { url, adminToken: token } = house
  const began = Date.now()
  const call = async (operation: Parameters<typeof callJson>[0], request: object, as?: string) => {
    const { ok, error } = (await callJson(operation, request as never, { url, ...(as && { token: as }) })) as any
    expect(error).toBeUndefined()
    return ok
  }
  const email = { email: 'set@example.com', isVerified: true }
  const profile = { firstName: 'Zo\u00eb', lastName: 'C:\\new' }
  const { userId } = await call('AddHumanUser', { userName: 'set', profile, email, password: 'correct horse 1' }, token)
  const { user } = await call('GetUser', { userId }, token)
  expect(user.human.profile).toMatchObject(profile)
  expect(Math.abs(Date.parse(user.details.creationDate) - began)).toBeLessThan(60_000)
  // A day and a month that look alike, and a day beyond the twelfth.
  const { userId: machine } = await call('AddMachineUser', { userName: 'set-machine', name: 'Set' }, token)
  const expirationDates = ['2031-05-04T03:02:01Z', '2031-12-31T23:59:59.500Z']
  for (const expirationDate of expirationDates) {
    const added = await call('AddPersonalAccessToken', { userId: machine, expirationDate }, token)
    await call('GetMyUser', {}, added.token)
  }
  const { tokens } = await call('ListPersonalAccessTokens', { userId: machine }, token)
  expect(tokens.map((one: { expirationDate: string }) => one.expirationDate).toSorted()).toEqual(expirationDates)
  // The hash of the password and the keys of the session are bytes.
  await call('CreateSession', { loginName: 'set', password: 'correct horse 1' })
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
})

test('nothing of these settings is left in the session of a service or of the operator', async () => {
  const sql = openDatabase(database.urls.users, 'test', silent)
  onTestFinished(() => sql.end())
  expect(
    await sql`select name, setting from pg_settings where source in ('database', 'user', 'database user')`,
  ).toEqual([])
  expect(await sql`select current_setting('plpgsql.extra_errors') as errors, current_schema() as schema`).toEqual([
    { errors: 'none', schema: 'roster_users' },
  ])
  const settings = operatorSettings({
    ...testServers(),
    ...servers,
    serviceDatabaseUrls: database.urls as TestServers['serviceDatabaseUrls'],
  })
  expect(await runOperator(['verify'], settings)).toMatchObject({ status: 0 })
})

const refusal = (name: string, value: string, wanted: string) =>
  `PostgreSQL has ${name} = ${value}, and Roster works with ${name} = ${wanted} alone (docs/operations.md).`

test('what no session can set is refused at the start, in one sentence that names the setting', async () => {
  const other = await createDatabase()
  onTestFinished(() => other.drop())
  await set(other, { session_replication_role: 'replica' })
  const settings = { DATABASE_URL: other.urls.users, NATS_URL: servers.natsUrl.users }
  expect(await endOf('users', settings)).toEqual([1, [refusal('session_replication_role', 'replica', 'origin')]])
  await set(other, { session_replication_role: 'origin', 'plpgsql.variable_conflict': 'use_column' })
  await expect(proveSession(other.urls.users, 'test')).rejects.toThrow(
    refusal('plpgsql.variable_conflict', 'use_column', 'error'),
  )
})

test('a database of another encoding is refused at the start', async () => {
  const name = `roster_latin_${Date.now()}`
  await admin.unsafe(`create database ${name} encoding 'LATIN1' locale 'C' template template0`)
  onTestFinished(async () => void (await admin.unsafe(`drop database ${name} with (force)`)))
  const url = database.adminUrl.replace(/[^/]*$/, name)
  const { users } = await provision(url, testServers().databasePasswords)
  await expect(proveSession(users, 'test')).rejects.toThrow(refusal('server_encoding', 'LATIN1', 'UTF8'))
})

test('a server that was set to take no writes gets none, and the setting is named', async () => {
  const other = await createDatabase()
  onTestFinished(() => other.drop())
  await set(other, { default_transaction_read_only: 'on' })
  const sql = openDatabase(other.urls.users, 'test', silent)
  onTestFinished(() => sql.end())
  await expect(sql`select 1`).rejects.toMatchObject({
    code: 'WRONG_SESSION_ATTRS',
    message: expect.stringContaining('default_transaction_read_only is on'),
  })
})

test('where it is set while a service runs, its calls are refused until it is set back', async () => {
  const other = await createDatabase()
  const { log, lines } = keepingLog()
  const watch = watchSession({ url: other.urls.users, service: 'users', log, waits: createWaits(log), every: 50 })
  onTestFinished(() => watch.stop().then(() => other.drop()))
  await set(other, { session_replication_role: 'replica' })
  await expect.poll(() => watch.refusal()).toMatchObject({ reason: 'STORE_UNAVAILABLE' })
  await set(other, { session_replication_role: 'origin' })
  await expect.poll(() => watch.refusal()).toBeUndefined()
  expect(lines.join('')).toContain(refusal('session_replication_role', 'replica', 'origin'))
})
