import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'
import { openSystem } from './system.ts'

let house: AuditedHouse

beforeAll(async () => void (house = await startAuditedHouse()), 120_000)
afterAll(() => house?.stop())

// The command looks at the tables first. A captured service can have the look pass, and then hang code on a table.
test.each([
  [
    'replaces the table by another',
    `create or replace temp view events as select position, 'framed'::text as creator, created_at from roster_users.events`,
  ],
  ['leads names to its own functions', `perform set_config('search_path', 'roster_users, pg_catalog', false)`],
  ['sees other rows', `perform set_config('row_security', 'on', false)`],
  ['may take for ever', `perform set_config('statement_timeout', '0', false)`],
  ['may write', `perform set_config('default_transaction_read_only', 'off', false)`],
  [
    'may write at once',
    `perform set_config('transaction_read_only', 'off', true);
    create or replace temp view events as select position, 'framed'::text as creator, created_at from roster_users.events`,
  ],
  [
    'gives prepared statements another meaning',
    `declare name text;
    begin
      for name in select s.name from pg_catalog.pg_prepared_statements s loop
        execute pg_catalog.format('deallocate %I', name);
        execute pg_catalog.format('prepare %I (bigint) as select $1 as position, ''framed''::text as creator, now() as created_at', name);
      end loop;
    end`,
  ],
  [
    'writes times otherwise',
    `perform set_config('datestyle', 'postgres', true); perform set_config('timezone', '<UTC>5', true)`,
  ],
])('code of a service that %s, in a session of the command, changes no later answer', async (_, body) => {
  const system = openSystem({
    databaseUrl: house.servers.serviceDatabaseUrls.operator,
    natsUrl: '',
    redisUrl: undefined,
  })
  const sql = system.sql('users')
  const [first] = await house.admin<{ position: string; creator: string; created_at: Date }[]>`
    select position, creator, created_at from roster_users.events order by position limit 1
  `
  const settings = () => sql`select name, setting from pg_settings where source = 'session' order by name`
  const read = () =>
    sql<
      [{ position: string; creator: string; created_at: Date }]
    >`select position, creator, created_at from events where position = ${first!.position}::bigint`
  try {
    const [before] = [await settings(), await read()]
    await house.asUsers(`
      create function evil() returns void language plpgsql as $$ begin ${body}; end $$;
      create function folded(text) returns text language plpgsql immutable as $$
      begin
        if session_user::text like 'roster_operator%' then perform roster_users.evil(); end if;
        return $1;
      end $$;
      create statistics late on (creator || folded('x')) from events;
    `)
    const answers = await Promise.allSettled([read(), read(), read()])
    // None but what is true, or no answer: nothing can be written, and a time in another style is none.
    for (const answer of answers)
      if (answer.status === 'rejected')
        expect(answer.reason).toMatchObject({ code: expect.stringMatching(/^2500[16]$/) })
      else if (!Number.isNaN(answer.value[0].created_at.getTime())) expect([...answer.value]).toEqual([first])
      else expect(answer.value[0].creator).toBe(first!.creator)
    expect(await settings()).toEqual(before)
  } finally {
    await house.asUsers(`
      drop statistics if exists late; drop function if exists folded(text); drop function if exists evil();
    `)
    await system.close()
  }
})
