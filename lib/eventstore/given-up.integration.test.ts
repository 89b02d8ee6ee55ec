import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { RosterError } from '../errors.ts'
import { add, call, count, openReplicas, outcome, type Replica } from '#test/support/counters'
import { createHold } from '#test/support/hold'
import { measureHere } from '#test/support/measured'

let [a, b]: Replica[] = []
const slow = createHold()
const read = measureHere()

beforeAll(async () => {
  const { replicas, stop } = await openReplicas((sql) => sql, slow.wrap)
  ;[a, b] = replicas
  return stop
})

/** Does work at `b`. Before each try to store, `a` changes the object; so often that `b` gives up. */
async function overtakeAlways<T>(work: () => Promise<T>, id: string): Promise<T> {
  const state = { over: false }
  let next = slow.hold()
  const done = work().finally(() => (state.over = true))
  while (!state.over) {
    await Promise.race([next.arrived, done])
    await a!.store.execute(count(id))
    const { release } = next
    next = slow.hold()
    release()
  }
  next.release()
  return done
}

const bulkOf = (ids: string[]) => {
  const respond = (outcomes: unknown[]) => outcomes.map((one) => (one instanceof RosterError ? one.reason : 'stored'))
  return b!.store.executeAll({ commands: ids.map((id) => count(id)), call: call(), lane: 'house', respond })
}

test('a command and one of a bulk that always lose are given up, and each counts as one conflict', async () => {
  const [fought, quiet] = [randomUUID(), randomUUID()]
  for (const id of [fought, quiet]) await a!.store.execute(add(id, id))
  const before = await read('roster.store.conflicts')
  expect(await overtakeAlways(() => outcome(b!.store.execute(count(fought))), fought)).toBe('CONFLICT')
  expect((await read('roster.store.conflicts')) - before).toBe(1)
  expect(await overtakeAlways(() => bulkOf([quiet, fought, fought]), fought)).toEqual([
    'stored',
    'CONFLICT',
    'CONFLICT',
  ])
  expect((await read('roster.store.conflicts')) - before).toBe(3)
})
