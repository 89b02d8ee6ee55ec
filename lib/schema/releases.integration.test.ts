import { createNoopMeter } from '@opentelemetry/api'
import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { silent } from '#test/support/rpc'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { writeMigrations } from '#test/support/counters'
import { roster } from '../health/release.ts'
import { startMeasuring } from '../telemetry/instruments.ts'
import { openDatabase, type Sql } from '../database/database.ts'
import { migrate } from './migrate.ts'
import { refuseBesideFormer } from './releases.ts'

let database: TestDatabase
let sql: Sql

beforeEach(async () => {
  database = await createDatabase()
  sql = openDatabase(database.urls.users, 'users', silent)
})
afterEach(async () => {
  await sql.end({ timeout: 5 })
  await database.drop()
})

const start = async () => migrate(sql, await writeMigrations({ '0001-a.sql': 'create table a (x int)' }), silent)
const note = (release: string, former: string) =>
  sql`insert into migrations (name) values (${`release ${release} after ${former}`})`
const refusal = (where: string, release: string) =>
  `Roster ${roster.version} cannot start, because ${where} ${release}, which is more than one release away`

/** A replica of another version, as PostgreSQL sees it. */
async function connected(name: string) {
  const replica = postgres(database.urls.users, { max: 1, connection: { application_name: name } })
  onTestFinished(() => replica.end({ timeout: 5 }))
  await replica`select 1`
}

test('a release notes once that it works on this schema', async () => {
  await start()
  await start()
  const rows = await sql`select name from migrations where name like 'release %'`
  expect(rows).toEqual([{ name: `release ${roster.release} after ${roster.former}` }])
})

describe('the schema of another release', () => {
  // 0.1 wrote no note.
  test('is taken over from the release before', async () => {
    await sql`create table migrations (name text primary key, applied_at timestamptz not null default now())`
    await note(roster.former, '0.0')
    await start()
    await start()
  })

  test('is used after the next release, which a rollback leaves behind', async () => {
    await start()
    await note('99.0', roster.release)
    await start()
  })

  test('is left alone two releases later', async () => {
    await start()
    await note('99.0', roster.release)
    await note('99.1', '99.0')
    await expect(start()).rejects.toThrow(refusal('its database was upgraded by', '99.1'))
  })

  test('is left alone two releases before, and nothing in it changes', async () => {
    await sql`create table migrations (name text primary key, applied_at timestamptz not null default now())`
    await note('0.0', '0.00')
    await expect(start()).rejects.toThrow(refusal('its database was upgraded by', '0.0'))
    expect(await sql`select to_regclass('a') as a`).toEqual([{ a: null }])
  })
})

describe('beside replicas of another release', () => {
  test('of the neighbors it starts', async () => {
    await start()
    await note('99.0', roster.release)
    for (const version of [`${roster.former}.7`, roster.version, '99.0.3']) await connected(`roster-users ${version}`)
    await connected('psql')
    await start()
  })

  test('two releases older, after a rollback, it does not start', async () => {
    await start()
    await connected('roster-users 0.0.9')
    await expect(start()).rejects.toThrow(refusal('beside it runs', '0.0'))
  })
})

test('an event that the former release does not know waits while a replica of that one is there, also a later one', async () => {
  for (const _ of ['before the upgrade', 'on the way back']) {
    const former = postgres(database.urls.users, {
      max: 1,
      connection: { application_name: `roster-users ${roster.former}.0` },
    })
    await former`select 1`
    await vi.waitFor(() => expect(refuseBesideFormer(sql)).rejects.toMatchObject({ reason: 'UPGRADE_UNDER_WAY' }))
    await former.end()
    await vi.waitFor(() => refuseBesideFormer(sql))
  }
})

// A connection that does not state its version is one of 0.1, for the release that looks. This test comes last: it
// measures from here on.
test('every connection of a service states its version, that of its measures too', async () => {
  startMeasuring(createNoopMeter())
  const measuring = openDatabase(database.urls.users, 'users', silent)
  onTestFinished(() => measuring.end({ timeout: 5 }))
  const names = [`roster-users ${roster.version}`, `roster-users-metrics ${roster.version}`]
  await vi.waitFor(async () => {
    const rows = await measuring<{ name: string }[]>`
      select distinct application_name as name from pg_stat_activity
      where usename = current_user and datname = current_database() order by name
    `
    expect(rows.map(({ name }) => name)).toEqual(names)
  }, 10_000)
})
