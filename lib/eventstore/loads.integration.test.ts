import { beforeAll, expect, test } from 'vitest'
import { add, openReplicas, type Replica } from '#test/support/counters'
import { loadAggregates } from './aggregate.ts'

let replica: Replica

beforeAll(async () => {
  const { replicas, stop } = await openReplicas()
  replica = replicas[0]!
  return stop
})

test('PostgreSQL makes one plan for loads of any number of aggregates', async () => {
  const one = await replica.sql.reserve()
  try {
    for (let count = 1; count <= 20; count++) {
      const keys = Array.from({ length: 1 + (count % 3) }, (_, n) => ({ type: 'counter', id: `planned-${n}` }))
      expect(await loadAggregates(one, keys)).toHaveLength(keys.length)
    }
    const plans = await one`
      select custom_plans::int as anew, generic_plans::int as kept from pg_prepared_statements
      where statement like '%left join aggregates%' and statement not like '%pg_prepared_statements%'
    `
    // It looks at five before it keeps one.
    expect([...plans]).toEqual([{ anew: 5, kept: 15 }])
  } finally {
    one.release()
  }
})

test('loads of the same moment read an aggregate once', async () => {
  await replica.store.execute(add('shared', 'shared'))
  const [first, second] = await Promise.all(['shared', 'shared'].map((id) => replica.store.load('counter', id)))
  expect(first?.state).toBeDefined()
  expect(second).toBe(first)
})
