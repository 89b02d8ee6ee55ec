import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { openReplica, type Replica } from '#test/support/counters'

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

const now = new Date().toISOString()
const event = (id: string, sequence: number) => ({
  aggregate_type: 'counter',
  aggregate_id: id,
  sequence,
  type: 'added',
  payload: {},
  organization_id: 'house',
  creator: '',
  request_id: '',
  created_at: now,
})
const aggregate = (id: string, sequence: number) => ({
  type: 'counter',
  id,
  organization_id: 'house',
  sequence,
  created_at: now,
  changed_at: now,
  state: {},
})
const append = (batch: object) => {
  const whole = { writes: [], reads: [], releases: [], claims: [], events: [], aggregates: [], ...batch }
  return replica.sql`select append(${JSON.stringify(whole)}::text::jsonb)`
}
const eventsOf = (id: string) => replica.sql`select sequence from events where aggregate_id = ${id}`

describe('append, the last guard of the stored data,', () => {
  const write = (id: string, sequence: number) => ({ writes: [{ type: 'counter', id, sequence }] })
  const broken: Record<string, (id: string) => object> = {
    'a gap before the first event': (id) => ({
      ...write(id, 0),
      events: [event(id, 2)],
      aggregates: [aggregate(id, 2)],
    }),
    'a gap between events': (id) => ({
      ...write(id, 0),
      events: [event(id, 1), event(id, 3)],
      aggregates: [aggregate(id, 3)],
    }),
    'the same sequence twice': (id) => ({
      ...write(id, 0),
      events: [event(id, 1), event(id, 1)],
      aggregates: [aggregate(id, 1)],
    }),
    'a state that is not that of the last event': (id) => ({
      ...write(id, 0),
      events: [event(id, 1)],
      aggregates: [aggregate(id, 2)],
    }),
    'events of an aggregate that nobody looked at': (id) => ({
      events: [event(id, 1)],
      aggregates: [aggregate(id, 1)],
    }),
    'events without their state': (id) => ({ ...write(id, 0), events: [event(id, 1)] }),
    'an expectation that does not hold': (id) => ({
      ...write(id, 4),
      events: [event(id, 5)],
      aggregates: [aggregate(id, 5)],
    }),
  }

  test.each(Object.keys(broken))('refuses %s', async (name) => {
    await expect(append(broken[name]!(name))).rejects.toThrow()
    expect(await eventsOf(name)).toHaveLength(0)
  })

  const id = 'guarded'

  test('accepts a complete batch', async () => {
    await append({ ...write(id, 0), events: [event(id, 1), event(id, 2)], aggregates: [aggregate(id, 2)] })
    await append({ ...write(id, 2), events: [event(id, 3)], aggregates: [aggregate(id, 3)] })
    expect(await eventsOf(id)).toHaveLength(3)
  })

  test('reports stale aggregates and taken keys', async () => {
    await append({ claims: [{ kind: 'name', scope: '', key: 'k', aggregate_id: 'x' }] })
    const error = await append({
      writes: [{ type: 'counter', id, sequence: 2 }],
      claims: [{ kind: 'name', scope: '', key: 'k', aggregate_id: 'y' }],
    }).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'RS001' })
    expect(JSON.parse((error as { detail: string }).detail)).toEqual({
      stale: [{ type: 'counter', id }],
      taken: [{ kind: 'name', scope: '', key: 'k' }],
    })
  })
})
