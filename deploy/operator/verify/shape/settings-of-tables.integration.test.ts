import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'

let house: AuditedHouse

beforeAll(async () => void (house = await startAuditedHouse()), 120_000)
afterAll(() => house?.stop())

const payload = (change: string) => `alter table events alter column payload ${change}`

test.each([
  [
    'a sequence that counts backwards and begins anew',
    'alter sequence events_position_seq increment by -1 minvalue 1 maxvalue 1000000 cycle',
    'alter sequence events_position_seq increment by 1 no minvalue no maxvalue no cycle',
    'sequence events_position_seq of column "position" persistence=p seqcache=1 seqcycle=true seqincrement=-1 seqmax=1000000 seqmin=1 seqstart=1 seqtypid=bigint', // prettier-ignore
  ],
  [
    'a sequence that each session takes many numbers of',
    'alter sequence events_position_seq cache 100000',
    'alter sequence events_position_seq cache 1',
    / seqcache=100000 /,
  ],
  [
    'a sequence that a crash empties',
    'alter sequence events_position_seq set unlogged',
    'alter sequence events_position_seq set logged',
    / persistence=u /,
  ],
  [
    'a column that has no room for large values',
    payload('set storage plain'),
    payload('set storage extended'),
    'setting of column payload attstorage=p',
  ],
  [
    'a column that is compressed otherwise',
    payload('set compression pglz'),
    payload('set compression default'),
    'setting of column payload attcompression=p',
  ],
  [
    'a column without statistics',
    payload('set statistics 0'),
    payload('set statistics default'),
    'setting of column payload attstattarget=0',
  ],
  [
    'a column of which the planner believes something',
    payload('set (n_distinct = 1)'),
    payload('reset (n_distinct)'),
    'setting of column payload attoptions=["n_distinct=1"]',
  ],
  [
    'options of a table',
    'alter table events set (autovacuum_enabled = off, parallel_workers = 64)',
    'alter table events reset (autovacuum_enabled, parallel_workers)',
    'setting reloptions=["autovacuum_enabled=off", "parallel_workers=64"]',
  ],
  [
    'options of where large values lie',
    'alter table events set (toast.autovacuum_enabled = off)',
    'alter table events reset (toast.autovacuum_enabled)',
    'setting of toast reloptions=["autovacuum_enabled=off"]',
  ],
  [
    'no identity of rows',
    'alter table events replica identity nothing',
    'alter table events replica identity default',
    'setting relreplident=n',
  ],
  [
    'an index by which the table is ordered',
    'alter table events cluster on events_in_commit_order',
    'alter table events set without cluster',
    'setting of index events_in_commit_order indisclustered=true',
  ],
  [
    'an expression of an index without statistics',
    'alter index events_of_sessions alter column 1 set statistics 0',
    'alter index events_of_sessions alter column 1 set statistics -1',
    'setting of index events_of_sessions column 1 attstattarget=0',
  ],
])('verify names %s, and reads the events of the service', async (_, change, restore, part) => {
  await house.asUsers(change)
  try {
    const { out, status } = await house.roster('verify', '--audit', 'users')
    expect(status).toBe(1)
    const line = 'users: events: it is not as the migrations make it: with '
    const parts = out.split('\n').flatMap((one) => (one.startsWith(line) ? [one.slice(line.length)] : []))
    expect(parts).toEqual([typeof part === 'string' ? part : expect.stringMatching(part)])
    expect(out).toMatch(/^users: \d+ events in the chain/m)
  } finally {
    await house.asUsers(restore)
  }
  expect(await house.found('users')).toEqual([])
})

test.each([
  [
    'a table that a crash empties',
    'alter table forgettings set unlogged',
    'alter table forgettings set logged',
    'forgettings',
    'table kind=r persistence=u method=heap owner=service',
  ],
  [
    'a function that the planner takes for dear',
    'alter function take_turns(jsonb) cost 1000000000',
    'alter function take_turns(jsonb) cost 100',
    'schema',
    /^function take_turns\(limits jsonb\) .* cost=1e\+09 /,
  ],
  [
    'a constraint that no row was held against',
    'alter table forgettings alter column organization_id drop not null, add constraint later not null organization_id not valid',
    'alter table forgettings alter column organization_id drop not null, alter column organization_id set not null',
    'forgettings',
    'constraint later NOT NULL organization_id NOT VALID not validated',
  ],
])('verify names %s', async (_, change, restore, row, part) => {
  await house.asUsers(change)
  try {
    const problems = (await house.found('users')).filter((one) => one.row === row).map(({ problem }) => problem)
    const line = 'it is not as the migrations make it: with '
    const parts = problems.flatMap((one) => (one.startsWith(line) ? [one.slice(line.length)] : []))
    expect(parts).toEqual([typeof part === 'string' ? part : expect.stringMatching(part)])
  } finally {
    await house.asUsers(restore)
  }
  expect(await house.found('users')).toEqual([])
})
