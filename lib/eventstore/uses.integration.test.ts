import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { RosterError } from '../errors.ts'
import type { Use } from './command.ts'
import type { Transaction } from '../database/database.ts'
import { deleteUses } from '../database/delete-in-portions.ts'
import { add, audit, count, openReplicas, outcome, type Replica } from '#test/support/counters'

let [a, b]: Replica[] = []

beforeAll(async () => {
  const { replicas, stop } = await openReplicas()
  ;[a, b] = replicas
  return stop
})

const exceeded = (retryAfter: number) => new RosterError('RESOURCE_EXHAUSTED', 'TOO_OFTEN', '', { retryAfter })
const tenMinutes = [{ most: 5, seconds: 600 }]

function use(key: string, limits: Use['limits'] = tenMinutes): Use {
  return { key, limits, exceeded }
}

/** The command with these uses added. */
function using(command: any, ...uses: Use[]) {
  return { ...command, decide: (...args: any[]) => ({ ...command.decide(...args), uses }) }
}

const adds = (number: number, ...uses: Use[]) =>
  Array.from({ length: number }, () => using(add(randomUUID(), randomUUID()), ...uses))

const run = (commands: any[]) =>
  Promise.all(commands.map((command, index) => outcome([a!, b!][index % 2]!.store.execute(command))))

const tally = (outcomes: string[]) =>
  Object.fromEntries(
    Map.groupBy(outcomes, (one) => one)
      .entries()
      .map(([one, all]) => [one, all.length]),
  )

const wait = (command: any) =>
  a!.store.execute(command).then(
    () => 0,
    (error: RosterError) => error.retryAfter!,
  )

const used = async (key: string) => (await a!.sql`select from uses where key = ${key}`).count

/** Moves the uses so many seconds into the past. */
const pass = (key: string, seconds: number) =>
  a!.sql`update uses set used_at = used_at - make_interval(secs => ${seconds}) where key = ${key}`

describe('a limited use', () => {
  test('happens as often as the limit allows, with fifty tries at two replicas at once', async () => {
    for (let round = 0; round < 5; round++) {
      const key = randomUUID()
      expect(tally(await run(adds(50, use(key))))).toEqual({ stored: 5, TOO_OFTEN: 45 })
      expect(await used(key)).toBe(5)
    }
    await audit(a!.sql)
  })

  test('happens as often as the limit allows, with fifty changes of one object', async () => {
    const [id, key] = [randomUUID(), randomUUID()]
    await a!.store.execute(add(id, id))
    const outcomes = await run(Array.from({ length: 50 }, () => using(count(id), use(key))))
    expect(tally(outcomes)).toEqual({ stored: 5, TOO_OFTEN: 45 })
    expect((await a!.store.load('counter', id))?.sequence).toBe(6)
  })

  test('is counted by its own key, however many come at once', async () => {
    const keys = Array.from({ length: 20 }, () => randomUUID())
    // Each command has another order of keys, so that no two wait for each other.
    const commands = Array.from({ length: 200 }, (_, n) =>
      adds(1, use(keys[n % 20]!), use(`of all ${keys[(n * 7 + 3) % 20]}`, [{ most: 1000, seconds: 3600 }])),
    ).flat()
    expect(tally(await run(commands))).toEqual({ stored: 100, TOO_OFTEN: 100 })
  })

  test('affects no one else: the commands that share its transaction are stored', async () => {
    const commands = [...adds(20, use(randomUUID())), ...adds(20)]
    expect(tally(await run(commands))).toEqual({ stored: 25, TOO_OFTEN: 15 })
  })

  test('does not count for a command that is refused, changes nothing, or is not stored', async () => {
    const [key, id] = [randomUUID(), randomUUID()]
    await run([using(add(id, id), use(key)), ...adds(1, use(key))])
    expect(await run([using(add(id, id), use(key)), using(add(randomUUID(), id), use(key))])).toEqual([
      'ID_TAKEN',
      'NAME_TAKEN',
    ])
    const nothing = { ...count(id), decide: () => ({ events: [], answer: undefined, uses: [use(key)] }) }
    expect(await run([nothing])).toEqual(['stored'])
    const failing = {
      ...count(id),
      decide: (...args: Parameters<ReturnType<typeof count>['decide']>) => ({
        ...count(id).decide(...args),
        uses: [use(key)],
        writes: [(sql: Transaction) => sql`select 1 / 0`],
      }),
    }
    expect(await run([failing])).toEqual(['PostgresError: division by zero'])
    expect(await used(key)).toBe(2)
  })

  test('is free again once the oldest use leaves the sliding window', async () => {
    const key = randomUUID()
    await run(adds(2, use(key)))
    await pass(key, 599)
    expect(tally(await run(adds(4, use(key))))).toEqual({ stored: 3, TOO_OFTEN: 1 })
    await pass(key, 2)
    expect(tally(await run(adds(4, use(key))))).toEqual({ stored: 2, TOO_OFTEN: 2 })
  })

  test('is refused with the seconds until the next free use', async () => {
    const key = randomUUID()
    const limits = [...tenMinutes, { most: 7, seconds: 86_400 }]
    const one = () => adds(1, use(key, limits))[0]
    for (let n = 0; n < 5; n++) expect(await wait(one())).toBe(0)
    expect(await wait(one())).toBeLessThanOrEqual(600)
    await pass(key, 590)
    expect(await wait(one())).toBeLessThanOrEqual(10)
    await pass(key, 10)
    expect([await wait(one()), await wait(one())]).toEqual([0, 0])
    // Now the day's limit applies, and 600 seconds of it are over.
    expect(await wait(one())).toBeGreaterThan(86_400 - 700)
    expect(await wait(one())).toBeLessThanOrEqual(86_400 - 600)
  })

  test('is refused with the longest of its waits', async () => {
    const [soon, late] = [randomUUID(), randomUUID()]
    const both = [use(soon, [{ most: 1, seconds: 10 }]), use(late, [{ most: 1, seconds: 1000 }])]
    expect(await wait(adds(1, ...both)[0])).toBe(0)
    expect(await wait(adds(1, ...both)[0])).toBeGreaterThan(900)
  })

  test('is dropped after a day', async () => {
    const [old, young] = [randomUUID(), randomUUID()]
    await run([...adds(1, use(old)), ...adds(1, use(young))])
    await pass(old, 86_401)
    await deleteUses(a!.sql)
    expect([await used(old), await used(young)]).toEqual([0, 1])
  })
})
