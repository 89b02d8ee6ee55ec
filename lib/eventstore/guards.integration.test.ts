import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { RosterError } from '../errors.ts'
import type { Guard } from './command.ts'
import { add, call, openReplicas, outcome, type Replica } from '#test/support/counters'

let [a, b]: Replica[] = []

beforeAll(async () => {
  const { replicas, stop } = await openReplicas()
  ;[a, b] = replicas
  await a!.sql`
    create function count_counts(of jsonb, most int) returns int language sql stable as $$
      select count(*)::int from (select from counts where name like (of ->> 'house') || '/%' limit most) found
    $$
  `
  return stop
})

function guardIn(house: string, most = 5): Guard {
  const full = new RosterError('RESOURCE_EXHAUSTED', 'HOUSE_FULL', '')
  return { key: house, counted: { by: 'count_counts', of: { house } }, most, full }
}

/** Adds a counter to a house. */
function addTo(house: string, name: string = randomUUID()): any {
  const command = add(randomUUID(), `${house}/${name}`)
  return { ...command, decide: (...args: any[]) => ({ ...(command.decide as any)(...args), guards: [guardIn(house)] }) }
}

const run = (commands: any[]) =>
  Promise.all(commands.map((command, index) => outcome([a!, b!][index % 2]!.store.execute(command))))
const times = <T>(number: number, make: () => T) => Array.from({ length: number }, make)
const sizeOf = async (house: string) => (await a!.sql`select from counts where name like ${`${house}/%`}`).count

test('a set is never larger than it may be, with fifty tries at two replicas at once', async () => {
  for (let round = 0; round < 5; round++) {
    const [house, other] = [randomUUID(), randomUUID()]
    const outcomes = await run([...times(50, () => addTo(house)), ...times(3, () => addTo(other))])
    expect(outcomes.filter((one) => one === 'HOUSE_FULL')).toHaveLength(45)
    expect(outcomes.slice(50)).toEqual(times(3, () => 'stored'))
    expect([await sizeOf(house), await sizeOf(other)]).toEqual([5, 3])
  }
})

test('of a bulk, as many are stored as there is room for', async () => {
  const house = randomUUID()
  const commands = times(8, () => addTo(house))
  const respond = (outcomes: unknown[]) => outcomes.map((one) => (one instanceof RosterError ? one.reason : 'stored'))
  const outcomes = await a!.store.executeAll({ commands, call: call(), lane: 'house', respond })
  expect(outcomes).toEqual([...times(5, () => 'stored'), ...times(3, () => 'HOUSE_FULL')])
  expect(await sizeOf(house)).toBe(5)
})

test('a taken key is reported before a full set, and what was refused takes no place', async () => {
  const house = randomUUID()
  await run(['a', 'b', 'c', 'd'].map((name) => addTo(house, name)))
  expect(await run(times(3, () => addTo(house, 'a')))).toEqual(times(3, () => 'NAME_TAKEN'))
  expect(await run([addTo(house, 'e')])).toEqual(['stored'])
  expect(await run([addTo(house, 'a'), addTo(house, 'f')])).toEqual(['NAME_TAKEN', 'HOUSE_FULL'])
})
