import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { add, evolveCounter, openReplica, type Replica, silent } from '#test/support/counters'
import { counting } from '#test/support/publishing'
import type { ByFunction } from '../database/database.ts'
import { createStore } from './store.ts'

let database: TestDatabase
let replica: Replica

beforeAll(async () => {
  database = await createDatabase()
  replica = await openReplica(database.urls.users)
})

afterAll(async () => {
  await replica?.stop()
  await database?.drop()
})

const event = (id: string, sequence: number) => ({
  aggregate_type: 'counter',
  aggregate_id: id,
  sequence,
  type: 'added',
  payload: {},
  organization_id: 'house',
  creator: '',
  request_id: '',
})
const change = (id: string, expected: number, sequence: number) => ({
  type: 'counter',
  id,
  organization_id: 'house',
  expected,
  sequence,
  state: {},
})
const append = ({
  changes = [],
  events = [],
  ...rest
}: {
  changes?: object[]
  events?: object[]
  claims?: object[]
}) => {
  const [changesText, eventsText] = [changes, events].map((part) => JSON.stringify(part))
  // Where there is nothing else, `append_rest` does not run.
  const restText = rest.claims ? JSON.stringify(rest) : null
  return replica.sql`
    select append(${changesText!}::text::json, ${eventsText!}::text::json, now(), ${restText}::text::jsonb)
  `
}
const eventsOf = (id: string) => replica.sql`select sequence from events where aggregate_id = ${id}`

describe('append, the last guard of the stored data,', () => {
  const broken: Record<string, (id: string) => Parameters<typeof append>[0]> = {
    'a gap before the first event': (id) => ({ changes: [change(id, 0, 2)], events: [event(id, 2)] }),
    'a gap between events': (id) => ({ changes: [change(id, 0, 3)], events: [event(id, 1), event(id, 3)] }),
    'the same sequence twice': (id) => ({ changes: [change(id, 0, 1)], events: [event(id, 1), event(id, 1)] }),
    'a state that is not that of the last event': (id) => ({ changes: [change(id, 0, 2)], events: [event(id, 1)] }),
    'events without their state': (id) => ({ events: [event(id, 1)] }),
    'a state without events': (id) => ({ changes: [change(id, 0, 1)] }),
    'an expectation that does not hold': (id) => ({ changes: [change(id, 4, 5)], events: [event(id, 5)] }),
  }

  test.each(Object.keys(broken))('refuses %s', async (name) => {
    await expect(append(broken[name]!(name))).rejects.toThrow()
    expect(await eventsOf(name)).toHaveLength(0)
  })

  const id = 'guarded'

  test('accepts a complete batch', async () => {
    await append({ changes: [change(id, 0, 2)], events: [event(id, 1), event(id, 2)] })
    await append({ changes: [change(id, 2, 3)], events: [event(id, 3)] })
    expect(await eventsOf(id)).toHaveLength(3)
  })

  test('reports stale aggregates and taken keys', async () => {
    await append({ claims: [{ kind: 'name', scope: '', key: 'k', aggregate_id: 'x' }] })
    const error = await append({
      changes: [change(id, 2, 3)],
      events: [event(id, 3)],
      claims: [{ kind: 'name', scope: '', key: 'k', aggregate_id: 'y' }],
    }).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'RS001' })
    expect(JSON.parse((error as { detail: string }).detail)).toEqual({
      stale: [{ type: 'counter', id }],
      taken: [{ kind: 'name', scope: '', key: 'k' }],
    })
    const alone = append({ changes: [change(id, 2, 3)], events: [event(id, 3)] })
    await expect(alone).rejects.toMatchObject({
      code: 'RS001',
      detail: expect.stringContaining(`"stale": [{"id": "${id}", "type": "counter"}]`),
    })
  })
})

test('functions that write rows run after the events, in their order, in the same statement', async () => {
  await replica.sql.unsafe(`
    create table seen (place int generated always as identity, by text, ids json, events bigint);
    create function see_first(rows json) returns void language plpgsql as $$ begin
      insert into seen (by, ids, events) select 'first', rows, count(*) from events where aggregate_id like 'seen-%';
    end $$;
    create function see_then(rows json) returns void language plpgsql as $$ begin
      insert into seen (by, ids, events) select 'then', rows, count(*) from seen;
    end $$`)
  const first: ByFunction['calls'] = (rows) => [{ name: 'see_first', rows }]
  const then: ByFunction['calls'] = (rows) => [{ name: 'see_then', rows }]
  const project = ({ after }: { after: { id: string } }) => [
    { row: { last: after.id }, calls: then, anywhere: true as const },
    { row: { id: after.id }, calls: first },
  ]
  let statements = 0
  const sql = counting(replica.sql, () => statements++)
  const store = createStore(sql, { evolve: { counter: evolveCounter as never }, project }, silent, () => {})
  await Promise.all([store.execute(add('seen-1', 'seen 1')), store.execute(add('seen-2', 'seen 2'))])
  // One statement loads, one writes.
  expect(statements).toBe(2)
  expect(await replica.sql`select by, ids, events::int from seen order by place`).toEqual([
    { by: 'first', ids: [{ id: 'seen-1' }, { id: 'seen-2' }], events: 2 },
    { by: 'then', ids: [{ last: 'seen-1' }, { last: 'seen-2' }], events: 1 },
  ])
})

test('a batch of functions has the same text, whatever the order and the number of its commands', async () => {
  await replica.sql.unsafe(`
    create function first_kind(rows json) returns void language sql as $$ select $$;
    create function second_kind(rows json) returns void language sql as $$ select $$`)
  const kinds = ['first_kind', 'second_kind'].map((name): ByFunction['calls'] => (rows) => [{ name, rows }])
  const project = ({ after: { id } }: { after: { id: string } }) => {
    const [first, second] = kinds.map((calls) => ({ row: { id }, calls }))
    return id.endsWith('0') ? [first!, second!] : [second!, first!]
  }
  const one = await replica.sql.reserve()
  try {
    const sql = Object.assign(one, { begin: replica.sql.begin })
    const store = createStore(sql, { evolve: { counter: evolveCounter as never }, project }, silent, () => {})
    for (let count = 1; count <= 8; count++) {
      const ids = Array.from({ length: count }, (_, n) => `text-${count}-${n + (count % 2)}`)
      await Promise.all(ids.map((id) => store.execute(add(id, id))))
    }
    const texts =
      await one`select statement from pg_prepared_statements where statement like '%"first_kind"%' and parameter_types <> '{}'`
    expect(texts).toHaveLength(1)
  } finally {
    one.release()
  }
})
