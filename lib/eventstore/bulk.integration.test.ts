import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { RosterError } from '../errors.ts'
import type { Use } from './command.ts'
import { onceId } from '../rpc/idempotency.ts'
import { add, audit, call, count, openReplicas, outcome, rename, type Replica } from '#test/support/counters'
import { createHold } from '#test/support/hold'

let [a, b]: Replica[] = []
const [slowA, slow] = [createHold(), createHold()]

beforeAll(async () => {
  const { replicas, stop } = await openReplicas(slowA.wrap, slow.wrap)
  ;[a, b] = replicas
  return stop
})

const times = (n: number) => Array.from({ length: n }, (_, index) => index)
const names = (n: number) => times(n).map(() => randomUUID())

/** Runs commands as one bulk. Returns "stored" or the reason of each refusal. */
async function bulk(replica: Replica, commands: any[], origin: object = {}, lane = 'house') {
  const respond = (outcomes: unknown[]) => outcomes.map((one) => (one instanceof RosterError ? one.reason : 'stored'))
  return replica.store.executeAll({ commands, call: { ...call(), ...origin }, lane, respond })
}

/** Runs a bulk under a key, as `serve` does. */
async function keyed(replica: Replica, key: string, commands: any[], request = 'request') {
  const encode = (outcomes: unknown) => Buffer.from(JSON.stringify(outcomes))
  const once = { id: onceId([key]), request, encode }
  const work = async () => encode(await bulk(replica, commands, { once }))
  const { bytes, replayed } = await replica.answers.once(once, work)
  return [...JSON.parse(Buffer.from(bytes).toString()), ...(replayed ? ['replayed'] : [])]
}

const exists = async (id: string) => (await a!.store.load('counter', id)) !== undefined
const transactionsOf = async (ids: string[]) =>
  a!.sql`select distinct transaction_id from events where aggregate_id = any(${ids})`
const tally = (outcomes: string[]) =>
  Object.fromEntries([...Map.groupBy(outcomes, (one) => one)].map(([one, all]) => [one, all.length]))

test('a thousand commands are stored in one transaction, each with its outcome', async () => {
  const ids = names(1000)
  const outcomes = await bulk(
    a!,
    ids.map((id) => add(id, id)),
  )
  expect(tally(outcomes)).toEqual({ stored: 1000 })
  expect(await transactionsOf(ids)).toHaveLength(1)
  await audit(a!.sql)
})

test('only the refused commands are not stored: taken ids, taken names, and names twice in the bulk', async () => {
  const [known, ...ids] = names(6) as [string, ...string[]]
  await a!.store.execute(add(known, known))
  const outcomes = await bulk(a!, [
    add(ids[0]!, ids[0]!),
    add(known, randomUUID()),
    add(ids[1]!, known),
    add(ids[2]!, ids[0]!),
    add(ids[3]!, ids[3]!),
    add(ids[3]!, randomUUID()),
    count(ids[4]!),
  ])
  expect(outcomes).toEqual([
    'stored',
    'ID_TAKEN',
    'NAME_TAKEN',
    'NAME_TAKEN',
    'stored',
    'ID_TAKEN',
    'COUNTER_NOT_FOUND',
  ])
  expect(await Promise.all([ids[0]!, ids[1]!, ids[2]!, ids[3]!].map(exists))).toEqual([true, false, false, true])
})

test('each command sees the changes of those before it', async () => {
  const [id, other] = names(2) as [string, string]
  const outcomes = await bulk(a!, [count(id), add(id, id), count(id), rename(id, `${id}-new`), add(other, id)])
  expect(outcomes).toEqual(['COUNTER_NOT_FOUND', 'stored', 'stored', 'stored', 'stored'])
  expect((await a!.store.load('counter', id))!.sequence).toBe(3)
})

test('a bulk of which everything is refused has its outcomes', async () => {
  expect(
    await bulk(
      a!,
      names(3).map((id) => count(id)),
    ),
  ).toEqual(times(3).map(() => 'COUNTER_NOT_FOUND'))
})

test('bulks and single commands on the same objects, at two replicas, are each stored once', async () => {
  const ids = names(20)
  await bulk(
    a!,
    ids.map((id) => add(id, id)),
  )
  const bulks = times(6).map((n) =>
    bulk(
      [a!, b!][n % 2]!,
      ids.map((id) => count(id)),
    ),
  )
  const singles = times(60).map((n) => outcome([a!, b!][n % 2]!.store.execute(count(ids[n % 20]!))))
  const outcomes = (await Promise.all([...bulks, Promise.all(singles)])).flat()
  const stored = outcomes.filter((one) => one === 'stored').length
  const [row] = await a!.sql`select sum(count) as sum from counts where id = any(${ids})`
  expect(Number(row!.sum)).toBe(stored)
  expect(stored).toBeGreaterThan(60)
  await audit(a!.sql)
})

describe('limited uses', () => {
  const exceeded = (retryAfter: number) => new RosterError('RESOURCE_EXHAUSTED', 'TOO_OFTEN', '', { retryAfter })
  const using = (command: any, key: string): any => {
    const use: Use = { key, limits: [{ most: 5, seconds: 600 }], exceeded }
    return { ...command, decide: (...args: any[]) => ({ ...command.decide(...args), uses: [use] }) }
  }

  test('are given to the first commands, and the others are refused', async () => {
    const [free, limited] = [names(10), names(10)]
    const key = randomUUID()
    const commands = times(10).flatMap((n) => [add(free[n]!, free[n]!), using(add(limited[n]!, limited[n]!), key)])
    const outcomes = await bulk(a!, commands)
    expect(outcomes.filter((_, n) => n % 2 === 0)).toEqual(times(10).map(() => 'stored'))
    expect(outcomes.filter((_, n) => n % 2 === 1)).toEqual(times(10).map((n) => (n < 5 ? 'stored' : 'TOO_OFTEN')))
    expect((await a!.sql`select from uses where key = ${key}`).count).toBe(5)
  })
})

describe('under an Idempotency-Key', () => {
  test('the whole answer comes again, refusals included, and nothing happens twice', async () => {
    const [id, key] = names(2) as [string, string]
    const commands = [add(id, id), count(id), add(randomUUID(), id)]
    expect(await keyed(a!, key, commands)).toEqual(['stored', 'stored', 'NAME_TAKEN'])
    expect(await keyed(b!, key, commands)).toEqual(['stored', 'stored', 'NAME_TAKEN', 'replayed'])
    expect((await a!.store.load('counter', id))!.sequence).toBe(2)
  })

  test('it comes again even where everything was refused, and would be stored now', async () => {
    const [id, key] = names(2) as [string, string]
    expect(await keyed(a!, key, [count(id)])).toEqual(['COUNTER_NOT_FOUND'])
    await a!.store.execute(add(id, id))
    expect(await keyed(b!, key, [count(id)])).toEqual(['COUNTER_NOT_FOUND', 'replayed'])
  })

  test('a bulk that loses the race against its twin at another replica gets the answer of the twin', async () => {
    const [id, key] = names(2) as [string, string]
    const commands = () => [add(randomUUID(), id), add(randomUUID(), id)]
    const { arrived, release } = slow.hold()
    const late = keyed(b!, key, commands())
    await arrived
    expect(await keyed(a!, key, commands())).toEqual(['stored', 'NAME_TAKEN'])
    release()
    expect(await late).toEqual(['stored', 'NAME_TAKEN', 'replayed'])
  })

  test('another request under the same key is refused without effect, also after a lost race', async () => {
    const [id, other, key] = names(3) as [string, string, string]
    const { arrived, release } = slow.hold()
    const late = outcome(keyed(b!, key, [add(other, other)], 'another'))
    await arrived
    await keyed(a!, key, [add(id, id)])
    release()
    expect(await late).toBe('IDEMPOTENCY_KEY_REUSED')
    expect(await exists(other)).toBe(false)
  })
})

test('a bulk is about no one object, so no If-Match fits', async () => {
  const id = randomUUID()
  for (const ifMatch of ['*', [0], [1]] as const)
    expect(await outcome(bulk(a!, [add(id, id)], { ifMatch }))).toBe('SEQUENCE_MISMATCH')
  expect(await exists(id)).toBe(false)
})

test('a bulk whose deadline passed while it waited never starts', async () => {
  const id = randomUUID()
  expect(await outcome(bulk(a!, [add(id, id)], { deadline: Date.now() - 1 }))).toBe('DEADLINE_EXCEEDED')
  expect(await exists(id)).toBe(false)
})

describe('a poisonous command fails alone', () => {
  const added = { organizationId: 'house', events: [{ type: 'added', payload: { name: 'x' } }] }
  const poisons: Record<string, () => any> = {
    'that throws a string': () => {
      throw 'poison'
    },
    'whose payload PostgreSQL cannot hold': () => ({
      ...added,
      events: [{ type: 'added', payload: { name: 'a\0b' } }],
    }),
    'whose own statement fails': () => ({ ...added, writes: [(sql: any) => sql`select 1 / 0`] }),
    'whose own statement breaks a unique key': () => ({
      ...added,
      writes: [(sql: any) => sql`insert into counts (id, name, count) values ('there', 'y', 0)`],
    }),
    'that decides nothing at all': () => undefined,
  }

  test.each(Object.keys(poisons))('%s', async (name) => {
    await outcome(a!.store.execute(add('there', 'there')))
    const [ids, bad] = [names(41), names(2)]
    const commands: any[] = ids.map((id) => add(id, id))
    for (const [n, id] of bad.entries())
      commands.splice(13 + 17 * n, 0, { aggregate: { type: 'counter', id }, decide: poisons[name]! })
    const outcomes = await bulk(a!, commands)
    expect(outcomes.flatMap((one, n) => (one === 'stored' ? [] : [n]))).toEqual([13, 30])
    expect(await transactionsOf(ids)).toHaveLength(1)
    expect(await Promise.all(bad.map(exists))).toEqual([false, false])
  })
})

test('one bulk runs at a time, owners are served round robin, and single commands go on meanwhile', async () => {
  const { arrived, release } = slowA.hold()
  const order: string[] = []
  const run = async (lane: string) => {
    const id = randomUUID()
    await bulk(a!, [add(id, id)], {}, lane)
    order.push(lane)
  }
  const greedy = [run('greedy'), run('greedy'), run('greedy')]
  await arrived
  const modest = run('modest')
  const [id] = names(1) as [string]
  expect(await outcome(a!.store.execute(add(id, id)))).toBe('stored')
  expect(order).toEqual([])
  release()
  await Promise.all([...greedy, modest])
  expect(order).toEqual(['greedy', 'modest', 'greedy', 'greedy'])
})

test('eight times the commands take about eight times as long, not 64 times', async () => {
  const timeOf = async (number: number) => {
    const ids = names(number)
    await bulk(
      a!,
      ids.map((id) => add(id, id)),
    )
    const started = performance.now()
    await bulk(
      a!,
      ids.map((id) => rename(id, `${id}-new`)),
    )
    return performance.now() - started
  }
  await timeOf(500)
  const few = Math.min(await timeOf(500), await timeOf(500))
  expect((await timeOf(4000)) / few).toBeLessThan(28)
})
