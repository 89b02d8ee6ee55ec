import { beforeAll, expect, test } from 'vitest'
import { add, count, openReplicas, type Replica } from '#test/support/counters'
import { createHold } from '#test/support/hold'

const slow = createHold()
let replica: Replica

beforeAll(async () => {
  const { replicas, stop } = await openReplicas(slow.wrap)
  replica = replicas[0]!
  return stop
})

const transactionsOf = async (ids: string[]) => {
  const rows = await replica.sql`
    select distinct transaction_id::text from events where aggregate_id = any(${ids}) and sequence = 2
  `
  return rows.length
}

/** Adds the counters, then counts each of them in a tick of its own, while another transaction waits. */
async function countOneByOne(ids: string[]) {
  for (const id of ['first', ...ids]) await replica.store.execute(add(id, id))
  const held = slow.hold()
  const first = replica.store.execute(count('first'))
  await held.arrived
  const others = ids.map(async (id, index) => {
    for (let tick = 0; tick < index; tick++) await new Promise(setImmediate)
    return replica.store.execute(count(id))
  })
  return { first, others, release: held.release }
}

test('commands that come during a transaction share the next one', async () => {
  const ids = Array.from({ length: 20 }, (_, index) => `few-${index}`)
  const { first, others, release } = await countOneByOne(ids)
  for (let tick = 0; tick < ids.length; tick++) await new Promise(setImmediate)
  release()
  await Promise.all([first, ...others])
  expect(await transactionsOf(ids)).toBe(1)
})

test('a transaction that waits for a lock holds up no others', async () => {
  await replica.store.execute(add('locked', 'locked'))
  await replica.store.execute(add('free', 'free'))
  await replica.sql.begin(async (other) => {
    await other`select from aggregates where id = 'locked' for update`
    const locked = replica.store.execute(count('locked'))
    // By now its transaction has begun.
    await new Promise(setImmediate)
    // One comes at once, the others when the lock has lasted for a while.
    for (const answer of [1, 2, 3]) expect(await replica.store.execute(count('free'))).toMatchObject({ answer })
    void locked.catch(() => {})
  })
  expect(await replica.store.execute(count('locked'))).toMatchObject({ answer: 2 })
})
