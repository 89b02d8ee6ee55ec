import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OperatedHouse, startOperatedHouse } from '#test/support/operated-house'
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

test('code of a captured service that runs in a session which only reads can write nothing there', async () => {
  const idp = postgres(there.servers.serviceDatabaseUrls.idp, { max: 1, onnotice: () => {} })
  const [reading, writing] = [false, true].map((mayWrite) => openSystem(readUrls(there.settings), mayWrite))
  try {
    await idp.unsafe(`
      create table loot (took text);
      grant insert on loot to public;
      create function evil() returns void language sql as $$ insert into roster_idp.loot values ('something') $$;
    `)
    const readOnly = { code: '25006' }
    await expect(reading!.sql('idp')`select roster_idp.evil()`).rejects.toMatchObject(readOnly)
    await expect(reading!.sql('idp')`update published set stream_created = ''`).rejects.toMatchObject(readOnly)
    expect((await idp`select from roster_idp.loot`).count).toBe(0)
    await writing!.sql('idp')`update published set stream_created = stream_created`
  } finally {
    await Promise.all([reading, writing].map((system) => system!.close()))
    await idp.unsafe('drop function if exists evil; drop table if exists loot;')
    await idp.end()
  }
})

test('a captured service, whose code runs where its tables are read, does not read those of others', async () => {
  const idp = postgres(there.servers.serviceDatabaseUrls.idp, { max: 1, onnotice: () => {} })
  const takes = async () => (await idp<{ took: string }[]>`select took from roster_idp.loot`).map(({ took }) => took)
  try {
    await idp.unsafe(`
      create table loot (took text);
      grant insert on loot to public;
      create function evil() returns boolean language plpgsql volatile as $$ begin
        begin
          insert into roster_idp.loot select payload::text from roster_users.events;
        exception when others then
          insert into roster_idp.loot values (sqlstate);
        end;
        return true;
      end $$;
      alter table published enable row level security;
      create policy trap on published using (roster_idp.evil());
    `)
    const { out } = await there.roster('status')
    expect(out).toContain(
      'roster_idp.published is not read, because this hangs on it: function roster_idp.evil() of policy trap',
    )
    expect(await takes()).toEqual([])
    // A program of somebody who has the same credentials.
    const sql = asOperator('idp')
    await sql`select generation from roster_idp.published`
    await sql.end()
    expect(await takes()).toEqual(['42501'])
  } finally {
    await idp.unsafe('drop policy if exists trap on published; alter table published disable row level security;')
    await idp.unsafe('drop function if exists evil; drop table if exists loot;')
    await idp.end()
  }
})
