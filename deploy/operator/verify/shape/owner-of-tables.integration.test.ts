import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'
import { openSchema } from '../../open-schema.ts'

let house: AuditedHouse

beforeAll(async () => {
  house = await startAuditedHouse()
}, 120_000)
afterAll(() => house?.stop())

const ofPolicy = {
  change: `
    alter table events enable row level security;
    create policy seen on events for select to roster_operator_users using (creator <> 'framed-person');
    create function unnest(text[]) returns setof text language sql stable as
      $$ select u from pg_catalog.unnest($1) u where current_user::text not like 'roster_operator%' $$;
  `,
  restore: `
    drop policy seen on events; alter table events disable row level security; drop function unnest(text[])
  `,
}
const ofView = {
  change: `
    alter table events rename to events_true;
    create view events as select position, transaction_id, aggregate_type, aggregate_id, sequence, type, payload,
      organization_id, case when current_user = 'roster_users' then 'framed-person' else creator end as creator, request_id,
      created_at, cause, traceparent from events_true;
    grant select on events to roster_operator_users;
  `,
  restore: 'drop view events; alter table events_true rename to events',
}
const ofColumn = {
  change: `
    alter table events rename column creator to creator_true;
    alter table events add column creator_false text;
    update events set creator_false = 'framed-person' where aggregate_type = 'user' and sequence = 2;
    alter table events add column creator text generated always as (
      case when length((0.1::float8 + 0.2::float8)::text) = 3 then coalesce(creator_false, creator_true) else creator_true end
    ) virtual;
  `,
  restore: `
    alter table events drop column creator; alter table events drop column creator_false;
    alter table events rename column creator_true to creator
  `,
}
const ofTrigger = {
  change: `
    create function nothing() returns trigger language plpgsql as $$ begin return null; end $$;
    create trigger quiet before insert on audit_checkpoints for each row execute function nothing();
  `,
  restore: 'drop trigger quiet on audit_checkpoints; drop function nothing',
}

describe.each([
  ['row level security and a function in the name of one of PostgreSQL', ofPolicy, 'events', 'with policy seen'],
  ['a view that tells the operator something else', ofView, 'events', /^with table kind=v /],
  [
    'a virtual column that tells sessions different values',
    ofColumn,
    'events',
    /^with column creator text generated=v /,
  ],
  [
    'a trigger that stores no checkpoint',
    ofTrigger,
    'audit_checkpoints',
    /^with trigger CREATE TRIGGER quiet BEFORE INSERT /,
  ],
  [
    'a rule',
    { change: 'create rule r as on insert to events do also nothing', restore: 'drop rule r on events' },
    'events',
    'with rule r',
  ],
  [
    'a table that inherits',
    { change: 'create table more () inherits (events)', restore: 'drop table more' },
    'events',
    'with child roster_users.more',
  ],
  [
    'a column of another type',
    {
      change: 'create domain told as text; alter table events alter column request_id type told',
      restore: 'alter table events alter column request_id type text; drop domain told',
    },
    'events',
    'with column request_id roster_users.told not null collate "default"',
  ],
  [
    'a default of a table of a search',
    {
      change: `create function evil() returns text language sql as $$ select '' $$;
        alter table found_users alter column user_id set default evil()`,
      restore: 'alter table found_users alter column user_id drop default; drop function evil',
    },
    'found_users',
    /default roster_users\.evil\(\)$/,
  ],
  [
    'a function that writes rows of searches',
    {
      change: `alter function find_users_exactly(json) set search_path = roster_users`,
      restore: 'alter function find_users_exactly(json) reset search_path',
    },
    'find_users_exactly',
    /^with function .*search_path=/,
  ],
  [
    'a function that writes no rows where it gets none',
    {
      change: 'alter function find_users_exactly(json) stable strict',
      restore: 'alter function find_users_exactly(json) volatile called on null input',
    },
    'find_users_exactly',
    /^with function .* volatile=s strict text /,
  ],
])('the owner of the tables is found after %s', (_, { change, restore }, row, part) => {
  test.each([
    ['verify', '--audit'],
    ['verify', '--without-stream'],
  ])('by %s %s', async (...command) => {
    await house.asUsers(change)
    try {
      const { status, out } = await house.roster(...command, '--json', 'users', 'grants')
      const found = out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { service: string; row: string; problem: string })
      expect(status).toBe(1)
      expect(found.every(({ service }) => service === 'users')).toBe(true)
      const parts = found
        .filter((one) => one.row === row)
        .map(({ problem }) => problem.replace('it is not as the migrations make it: ', ''))
      expect(parts).toContainEqual(typeof part === 'string' ? part : expect.stringMatching(part))
    } finally {
      await house.asUsers(restore)
    }
  })
})

test('an index that was added is named, and the events are read all the same', async () => {
  await house.asUsers('create index mine on events (creator)')
  try {
    const { status, out } = await house.roster('verify', '--audit', 'users')
    expect(status).toBe(1)
    expect(out).toMatch(/^users: events: it is not as the migrations make it: with index CREATE INDEX mine /)
    expect(out).toMatch(/\nusers: \d+ events in the chain/)
  } finally {
    await house.asUsers('drop index mine')
  }
})

test("a session of the command takes PostgreSQL's own functions and operators, whatever the service names", async () => {
  await house.asUsers(`
    create function trap(text, text) returns boolean language plpgsql as $$ begin raise exception 'trapped'; end $$;
    create operator = (leftarg = text, rightarg = text, function = trap);
    create function unnest(text[]) returns setof text language plpgsql as $$ begin raise exception 'trapped'; end $$;
    create function left(text, int) returns text language plpgsql as $$ begin raise exception 'trapped'; end $$;
  `)
  const { sql } = openSchema(house.servers.serviceDatabaseUrls.operator, 'users', {
    patience: 5000,
    mayWrite: false,
  })
  try {
    const rows = await sql`select left(type, 4) from events, unnest(array[type]) one where one = type limit 1`
    expect(rows).toEqual([{ left: expect.any(String) }])
    // They are named, and the rest is looked at.
    expect((await house.found('users')).map(({ row }) => row)).toEqual(['schema', 'schema', 'schema', 'schema'])
  } finally {
    await sql.end()
    await house.asUsers(`
      drop operator roster_users.= (text, text); drop function roster_users.trap(text, text);
      drop function roster_users.unnest(text[]); drop function roster_users.left(text, int)
    `)
  }
})

const behindChain = '(select transaction_id from roster_users.events order by transaction_id desc limit 1)'

test.each([
  ['in the chain', "'1'", 'now()', /^the table has \d+ events up to the end of the chain, and its index/],
  ['behind the chain', behindChain, "now() - interval '1 hour'", /^the table has events that are not in the chain, nor in its index/], // prettier-ignore
])('an event %s that the index of the commit order does not have is found', async (_, transaction, time, problem) => {
  const { admin, changed, found } = house
  const ready = (isReady: boolean) =>
    admin.begin(async (sql) => {
      await sql`set local allow_system_table_mods = on`
      await sql`
        update pg_index set indisready = ${isReady} where indexrelid = 'roster_users.events_in_commit_order'::regclass
      `
    })
  await changed(
    async () => {
      await ready(false)
      const session = postgres(house.servers.databaseUrl, { max: 1 })
      await session.unsafe(`
        insert into roster_users.events (position, transaction_id, aggregate_type, aggregate_id, sequence, type, payload,
          organization_id, creator, request_id, created_at)
        overriding system value
        values (99000000, ${transaction}, 'user', 'nobody', 1, 'locked', '{}', 'default', '', '', ${time})
      `)
      await session.end()
      await ready(true)
    },
    async () => expect(await found('users')).toEqual([{ row: 'events', problem: expect.stringMatching(problem) }]),
  )
  await admin`reindex index roster_users.events_in_commit_order`
  expect(await found('users')).toEqual([])
})

test('a table that its owner changes after the first look at it is found by the second', async () => {
  const { admin, servers, roster } = house
  const [first, second] = [1, 2].map(() => postgres(servers.databaseUrl, { max: 1 })) as [postgres.Sql, postgres.Sql]
  const waiting = (count: number) =>
    vi.waitFor(
      async () => {
        const waits = await admin`select from pg_locks where relation = 'events'::regclass and not granted`
        expect(waits.count).toBe(count)
      },
      { timeout: 20_000, interval: 20 },
    )
  const lock = 'begin; lock table roster_users.events in access exclusive mode'
  try {
    await first.unsafe(lock)
    const verifying = roster('verify', '--audit', '--json', 'users')
    // The command makes its views first, and this lock comes next. So the command waits once more where it reads events.
    await waiting(1)
    const locked = second.unsafe(lock).execute()
    await waiting(2)
    await first.unsafe('commit')
    await locked
    await waiting(1)
    await second.unsafe('create index mine on roster_users.events (creator); commit')
    const found = (await verifying).json()
    expect(found).toEqual([expect.objectContaining({ row: 'events', problem: expect.stringContaining('with index CREATE INDEX mine') })]) // prettier-ignore
  } finally {
    await Promise.all([first.end(), second.end()])
    await house.asUsers('drop index if exists mine')
  }
})
