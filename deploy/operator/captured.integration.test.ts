import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'
import { operatorSettings } from '#test/support/operator'
import { run } from './run.ts'

let house: AuditedHouse

// A service that was captured does what it likes in its own schema, also while the command runs.
beforeAll(async () => void (house = await startAuditedHouse()), 120_000)
afterAll(() => house?.stop())
afterEach(async () => {
  await asIdp(
    'drop statistics if exists odd; drop trigger if exists evil on parked_events; drop rule if exists evil on parked_events; drop table if exists loot, beside cascade',
  )
  await house.admin`delete from parked_events`
  await house.admin`delete from roster_idp.parked_events`
})

const asIdp = (statements: string) =>
  house.admin.begin(async (sql) => {
    await sql`set local search_path = roster_idp`
    await sql`set local role roster_idp`
    await sql.unsafe(statements)
  })

const park = async () => {
  await house.admin`insert into parked_events (position, reason) values (1, 'of users')`
  await house.admin`insert into roster_idp.parked_events (position, reason) values (1, 'of idp')`
}
const parkedOf = async (service: string) =>
  (await house.admin`select from ${house.admin(`roster_${service}.parked_events`)} where not retry`).count

const strange = 'idp: the table roster_idp.parked_events is not read, because this hangs on it: statistics object odd\n'

test('a service that makes its parked events unreadable is named, and those of its sisters are listed and changed', async () => {
  const { roster } = house
  await park()
  await asIdp('create statistics odd on position, reason from parked_events')
  expect(await roster('parked', 'list')).toMatchObject({
    status: 2,
    out: expect.stringMatching(/^users-1 .* of users$/m),
    err: strange,
  })
  expect(await roster('parked', 'retry', '--all')).toMatchObject({ status: 2, out: 'users-1: done\n', err: strange })
  expect(await parkedOf('users')).toBe(0)
  expect(await roster('parked', 'drop', 'idp-1', 'users-1', '--yes')).toMatchObject({
    status: 2,
    out: 'users-1: done\n',
    err: strange.replace('read', 'changed'),
  })
  expect(await roster('parked', 'drop', '--all', '--yes')).toMatchObject({ status: 2, out: '', err: strange })
})

test('republish names a service that cannot be read, and goes on with the others', async () => {
  const { roster, admin } = house
  await asIdp('create statistics odd on position, generation from published')
  // The others have published nothing, so all is sent.
  const kept = await admin`select position from published`
  for (const service of ['users', 'grants', 'notifier'])
    await admin`update ${admin(`roster_${service}.published`)} set position = 0`
  try {
    expect(await roster('republish', '--yes')).toMatchObject({
      status: 2,
      out: expect.stringMatching(/^users: all is sent$/m),
      err: strange.replace('parked_events', 'published'),
    })
  } finally {
    await admin`update published set position = ${kept[0]!['position']}`
  }
})

test('export names a service that cannot be read, and writes the others', async () => {
  await asIdp('create statistics odd on creator, request_id from events')
  const { status, out, err } = await house.roster('export', 'default')
  expect({ status, err }).toMatchObject({ status: 2, err: expect.stringContaining('idp: the table roster_idp.events') })
  expect(out).toContain('"service":"users"')
})

const makes = {
  trigger: `
    create function evil() returns trigger language plpgsql as $$
    begin insert into roster_idp.loot values (current_user); return null; end $$;
    create trigger evil after delete or update on parked_events for each row execute function evil()`,
  rule: 'create rule evil as on delete to parked_events do also insert into loot values (current_user)',
  'foreign key': `
    create table beside (position bigint references parked_events on delete cascade);
    insert into beside values (1)`,
}

test.each(Object.entries(makes))(
  'a %s that a service hangs on a table while the user is asked never runs, and the sisters’ events are dropped',
  async (_, statements) => {
    await park()
    await asIdp(
      'create table loot (who text); grant usage on schema roster_idp to public; grant insert on loot to public',
    )
    await asIdp('drop function if exists evil cascade')
    const [stdin, stdout, stderr] = Array.from({ length: 3 }, () => Object.assign(new PassThrough(), { isTTY: true }))
    let asked = ''
    stderr!.on('data', (chunk) => (asked += String(chunk)))
    const out = text(stdout!)
    const env = operatorSettings(house.servers)
    const running = run(['parked', 'drop', '--all'], { env, stdin: stdin!, stdout: stdout!, stderr: stderr! })
    await vi.waitFor(() => expect(asked).toContain('Type yes'), { timeout: 20_000 })
    await asIdp(statements)
    stdin!.write('yes\n')
    expect(await running).toBe(2)
    stdout!.end()
    expect(asked).toContain('idp: the table roster_idp.parked_events is not changed, because this hangs on it: ')
    expect(await out).toBe('users-1: done\n')
    expect(await house.admin`select * from roster_idp.loot`).toHaveLength(0)
    expect(await parkedOf('idp')).toBe(1)
  },
)
