import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '#lib/eventstore/database'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'
import { silent } from '#test/support/rpc'

let house: AuditedHouse

beforeAll(async () => void (house = await startAuditedHouse()), 120_000)
afterAll(() => house?.stop())

/** Sets something for the role of the users service in this database. */
const ofRole = (setting: string) =>
  `do $$ begin execute format('alter role roster_users in database %I ${setting}', current_database()); end $$`

test.each([
  [
    'an operator',
    'create operator ?| (leftarg = jsonb, rightarg = text[], function = jsonb_exists_all)',
    'drop operator roster_users.?| (jsonb, text[])',
    'with operator roster_users.?|(jsonb,text[])',
  ],
  [
    'another text of a function of Roster',
    'alter function take_turns(jsonb) immutable',
    'alter function take_turns(jsonb) volatile',
    /^with function take_turns\(limits jsonb\) .* volatile=i /,
  ],
  [
    'a function that PostgreSQL does not call where an argument is null',
    'alter function append(json, json, timestamptz, jsonb) strict',
    'alter function append(json, json, timestamptz, jsonb) called on null input',
    /^with function append\(.* volatile=v strict text /,
  ],
  [
    'a function that runs as its owner',
    'alter function append(json, json, timestamptz, jsonb) security definer parallel safe',
    'alter function append(json, json, timestamptz, jsonb) security invoker parallel unsafe',
    /^with function append\(.* as its owner parallel=s text /,
  ],
  [
    'a cast of a row',
    'create function told(events) returns text language sql as $$ select 1 $$; create cast (events as text) with function told(events)',
    'drop cast (events as text); drop function told(events)',
    'with cast from roster_users.events to text',
  ],
  [
    'a setting of the role',
    ofRole('set transform_null_equals = on'),
    ofRole('reset transform_null_equals'),
    'with setting transform_null_equals=on',
  ],
  [
    "another order of the role's search path",
    ofRole('set search_path = roster_users, pg_catalog, roster_extensions'),
    ofRole('set search_path = roster_users, roster_extensions'),
    'with setting search_path=roster_users, pg_catalog, roster_extensions',
  ],
])('verify names %s, by which the service would decide otherwise', async (_, change, restore, part) => {
  const own = await house.found('users')
  await house.asUsers(change)
  try {
    const problems = (await house.found('users'))
      .filter(({ row }) => row === 'schema')
      .map(({ problem }) => problem.replace('it is not as the migrations make it: ', ''))
    expect(problems).toContainEqual(typeof part === 'string' ? part : expect.stringMatching(part))
    expect((await house.roster('verify', '--audit', 'users')).out).toMatch(/^users: \d+ events in the chain/m)
  } finally {
    await house.asUsers(restore)
  }
  expect(await house.found('users')).toEqual(own)
})

const grants = `
  grant usage on schema roster_users to roster_idp;
  grant all on all tables in schema roster_users to roster_idp;
  grant update (hash) on passwords to roster_idp;
  grant usage on all sequences in schema roster_users to public;
  grant execute on function take_turns(jsonb) to roster_idp;
  alter default privileges in schema roster_users grant select on tables to roster_idp
`
const revokes = `
  alter default privileges in schema roster_users revoke select on tables from roster_idp;
  revoke all on function take_turns(jsonb) from roster_idp;
  revoke all on all sequences in schema roster_users from public;
  revoke all on all tables in schema roster_users from roster_idp;
  revoke all on schema roster_users from roster_idp
`

test.each([
  ['', ['verify', '--audit', 'users']],
  [' without --audit', ['verify', '--without-stream', 'users']],
])('verify%s names rights that a service gave to another one, and reads its events', async (_, command) => {
  await house.asUsers(grants)
  try {
    const { out, status } = await house.roster(...command)
    expect(status).toBe(1)
    for (const [row, part] of [
      ['schema', 'right USAGE of roster_idp on the schema'],
      ['passwords', 'right SELECT of roster_idp'],
      ['events', 'right UPDATE of roster_idp'],
      ['passwords', 'right UPDATE of roster_idp on column hash'],
      ['schema', 'right USAGE of public on sequence roster_users.events_position_seq'],
      ['schema', 'right EXECUTE of roster_idp on function roster_users.take_turns(jsonb)'],
      ['schema', 'right SELECT of roster_idp on what comes, of kind r'],
    ])
      expect(out.split('\n')).toContain(`users: ${row}: it is not as the migrations make it: with ${part}`)
    expect(out).not.toContain('its tables are not those of this version')
  } finally {
    await house.asUsers(revokes)
  }
})

test.each([
  ['a table that refers to its own', 'create table note (id text references subject_keys)', 'drop table note', 'subject_keys', 'referenced by roster_users.note note_id_fkey'], // prettier-ignore
  ['a table that Roster does not know', 'create table note ()', 'drop table note', 'schema', 'table roster_users.note'],
  ['a view that Roster does not know', 'create view back as select * from passwords', 'drop view back', 'schema', 'view roster_users.back'], // prettier-ignore
  ['a sequence that Roster does not know', 'create sequence more', 'drop sequence more', 'schema', 'sequence roster_users.more'], // prettier-ignore
])('verify names %s, and reads the events of the service', async (_, change, restore, row, part) => {
  await house.asUsers(change)
  try {
    const { out, status } = await house.roster('verify', '--audit', 'users')
    expect(status).toBe(1)
    expect(out.split('\n')).toContain(`users: ${row}: it is not as the migrations make it: with ${part}`)
    expect(out).toMatch(/^users: \d+ events in the chain/m)
  } finally {
    await house.asUsers(restore)
  }
})

test('verify names an event trigger, which would run in its session', async () => {
  await house.admin.unsafe(`
    create function fired() returns event_trigger language plpgsql as $$ begin end $$;
    create event trigger fires on ddl_command_end execute function fired()
  `)
  try {
    const problem = 'it is not as the migrations make it: with event trigger fires'
    expect(await house.found('users')).toContainEqual({ row: 'schema', problem })
  } finally {
    await house.admin.unsafe('drop event trigger fires; drop function fired()')
  }
})

test("a service takes PostgreSQL's own operators, whatever its role is set to", async () => {
  await house.asUsers(`
    create function never(jsonb, text[]) returns boolean language sql as 'select false';
    create operator ?| (leftarg = jsonb, rightarg = text[], function = never);
    ${ofRole('set search_path = roster_users, pg_catalog, roster_extensions')}
  `)
  const url = new URL(house.servers.databaseUrl)
  const sql = openDatabase(
    Object.assign(url, { username: 'roster_users', password: 'users-password' }).href,
    'users',
    silent,
  )
  try {
    expect([...(await sql`select '["a"]'::jsonb ?| array['a'] as has`)]).toEqual([{ has: true }])
  } finally {
    await sql.end()
    await house.asUsers(`
      ${ofRole('set search_path = roster_users, roster_extensions')};
      drop operator roster_users.?| (jsonb, text[]); drop function never(jsonb, text[])
    `)
  }
})
