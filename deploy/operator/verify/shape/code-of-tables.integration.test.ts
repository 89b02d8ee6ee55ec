import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'

let house: AuditedHouse

beforeAll(async () => {
  house = await startAuditedHouse()
  // `harmless` is called where PostgreSQL plans a statement. It notes who called it, or raises where it cannot.
  await house.asUsers(`
    create table ran (who text);
    grant insert on ran to public;
    create function note() returns void language plpgsql as $$
    begin
      if session_user::text like 'roster_operator%' then insert into roster_users.ran values (session_user); end if;
    end $$;
    create function harmless(text) returns text language plpgsql immutable as $$
    begin
      perform roster_users.note();
      return $1;
    end $$;
    create operator === (leftarg = text, rightarg = text, function = texteq);
    create domain told as text;
  `)
}, 120_000)
afterAll(() => house?.stop())

async function ran() {
  return [...(await house.admin`delete from ran returning who`)]
}

const columns = {
  events: 'creator',
  aggregates: 'id',
  audit_chain: 'reason',
  audit_checkpoints: 'jws',
  published: 'stream_created',
  forgettings: 'user_id',
  parked_events: 'reason',
}
const onEach = (statement: (table: string, column: string) => string) =>
  Object.entries(columns)
    .map(([table, column]) => statement(table, column))
    .join(';')

describe.each([
  [
    'statistics',
    onEach((table, column) => `create statistics s_${table} on (${column} || harmless('x')) from ${table}`),
    onEach((table) => `drop statistics s_${table}`),
    'statistics object s_',
  ],
  [
    'indexes',
    onEach((table) => `create index i_${table} on ${table} ((1)) where harmless('x') <> ''`),
    onEach((table) => `drop index i_${table}`),
    'function roster_users.harmless(text) of index roster_users.i_',
  ],
])('code that a service hung on its tables by %s does not run', (_, change, restore, what) => {
  beforeAll(async () => {
    await house.asUsers(change)
    await ran()
  })
  afterAll(() => house.asUsers(restore))

  test.each([
    ['verify', '--audit', 'users', 'audit_chain'],
    ['verify', '--without-stream', 'users', 'events'],
    ['verify', 'users', 'events'],
    ['checkpoints', 'users', 'audit_checkpoints'],
    ['export', 'default', 'events'],
    ['forgotten', 'somebody', 'roster_users.events'],
    ['parked', 'list', 'parked_events'],
    ['status', 'published'],
    ['status', 'aggregates'],
  ])('in %s %s', async (...call) => {
    const table = call.pop()!
    const { status, out, err } = await house.roster(...call)
    expect(await ran()).toEqual([])
    expect(status).toBeGreaterThan(0)
    expect((out + err).split('\n')).toContainEqual(expect.stringMatching(table))
    expect(out + err).toContain(what)
  })

  test('and the other services are looked at', async () => {
    const { out } = await house.roster('verify', '--audit')
    expect(out).toMatch(/^users: its tables are not those of this version/m)
    for (const service of ['grants', 'idp', 'notifier'])
      expect(out).toMatch(new RegExp(`^${service}: \\d+ events in the chain`, 'm'))
  })
})

test.each([
  [
    'a constraint',
    'add constraint c check (creator === creator)',
    'drop constraint c',
    'operator roster_users.===(text,text) of constraint c on table roster_users.events',
  ],
  ['a type', 'alter column request_id type told', 'alter column request_id type text', 'type roster_users.told'],
  [
    'a computed column',
    'add column c text generated always as (creator) virtual',
    'drop column c',
    'column c that is computed where it is read',
  ],
])('a table with %s is not read', async (_, change, restore, what) => {
  await house.asUsers(`alter table events ${change}`)
  try {
    const { status, err } = await house.roster('export', 'default')
    expect(status).toBe(2)
    expect(err).toContain(`users: the table roster_users.events is not read, because this hangs on it: ${what}\n`)
  } finally {
    await house.asUsers(`alter table events ${restore}`)
  }
})
