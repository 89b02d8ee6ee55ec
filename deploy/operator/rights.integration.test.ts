import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OperatedHouse, startOperatedHouse } from '#test/support/operated-house'
import { openDatabase } from '#lib/eventstore/database'
import { silent } from '#test/support/rpc'
import { readUrls } from './settings.ts'
import { openSystem } from './system.ts'

let there: OperatedHouse

beforeAll(async () => {
  there = await startOperatedHouse()
}, 120_000)
afterAll(() => there?.stop())

/** A connection as the command has it to a service. */
function asOperator(service: string) {
  const url = new URL(there.settings['ROSTER_OPERATOR_DATABASE_URL']!)
  url.username += `_${service}`
  return postgres(url.href, { max: 1, onnotice: () => {} })
}

const denied = { code: '42501' }

test.each([
  ['users', ['passwords', 'tokens', 'machine_secrets', 'signing_keys', 'known_addresses', 'idempotent_answers']],
  ['idp', ['client_secrets', 'idempotent_answers']],
  ['notifier', ['webhook_secrets']],
])('the role for %s reads no secret and changes nothing else', async (service, secrets) => {
  const sql = asOperator(service)
  const schema = sql.unsafe(`roster_${service}`)
  try {
    for (const table of secrets)
      await expect(sql`select * from ${schema}.${sql(table)}`, table).rejects.toMatchObject(denied)
    await expect(sql`select message_key from ${schema}.published`).rejects.toMatchObject(denied)
    await expect(sql`update ${schema}.published set position = 0`).rejects.toMatchObject(denied)
    for (const table of ['events', 'aggregates', 'unique_keys'])
      await expect(sql`delete from ${schema}.${sql(table)}`, table).rejects.toMatchObject(denied)
    await expect(sql`create table ${schema}.mine (x int)`).rejects.toMatchObject(denied)
    for (const makes of ['lo_creat(0)', 'lo_create(0)', `lo_from_bytea(0, 'x')`])
      await expect(sql.unsafe(`select ${makes}`), makes).rejects.toMatchObject(denied)
  } finally {
    await sql.end()
  }
})

test.each(['users', 'grants', 'idp', 'notifier'])(
  'a session of the role for %s that is forgotten holds nothing up: it has limits of time and number',
  async (service) => {
    const sql = asOperator(service)
    try {
      const rows = await sql`select name, setting from pg_settings where source = 'database user' order by name`
      expect(rows.map(({ name, setting }) => [name, Number(setting)])).toEqual([
        ['idle_in_transaction_session_timeout', 30_000],
        ['lock_timeout', 5000],
        ['statement_timeout', 60_000],
        ['transaction_timeout', 120_000],
      ])
      const [role] = await sql`select rolconnlimit from pg_roles where rolname = current_user`
      expect(role).toEqual({ rolconnlimit: 10 })
    } finally {
      await sql.end()
    }
  },
)

test('sessions of commands that only read are read-only', async () => {
  const urls = readUrls(there.settings)
  const [reading, writing] = [openSystem(urls), openSystem(urls, true)]
  try {
    const change = (system: typeof reading) => system.sql('idp')`update published set stream_created = stream_created`
    await expect(change(reading)).rejects.toMatchObject({ code: '25006' })
    await change(writing)
  } finally {
    await Promise.all([reading, writing].map((system) => system.close()))
  }
})

test('the role for a service reads nothing of another one', async () => {
  const sql = asOperator('idp')
  try {
    await expect(sql`select from roster_users.events`).rejects.toMatchObject(denied)
  } finally {
    await sql.end()
  }
})

test("a service's session has its own search path, whatever its role is set to", async () => {
  const ofRole = (setting: string) =>
    there.admin.unsafe(
      `do $$ begin execute format('alter role roster_idp in database %I ${setting}', current_database()); end $$`,
    )
  await ofRole('set search_path = public, pg_catalog')
  const sql = openDatabase(there.servers.serviceDatabaseUrls.idp, 'idp', silent)
  try {
    expect(await sql`select current_schemas(true)::text[] as names`).toEqual([{ names: ['pg_catalog', 'roster_idp'] }])
  } finally {
    await sql.end()
    await ofRole('set search_path = roster_idp, roster_extensions')
  }
})
