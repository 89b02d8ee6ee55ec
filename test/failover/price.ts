import { act } from '../faults/act.ts'
import type { Redundant } from './redundant.ts'

/** Milliseconds of one write, by PostgreSQL's `synchronous_commit`. */
export type Price = Record<(typeof values)[number], number>

const values = ['local', 'on', 'remote_apply'] as const
const times = 3
const writesEach = 40

/** Measures single writes, one after the other, with each value in turns. Leaves `on`. */
export async function priceOfReplication(roster: Redundant): Promise<Price> {
  const once = { headers: { 'idempotency-key': 'priced' } }
  const { userId } = await act(roster, 'AddMachineUser', { userName: 'priced', name: 'Price' }, once)
  const taken: Record<string, number[]> = Object.fromEntries(values.map((value) => [value, []]))
  for (let time = 0; time < times; time++)
    for (const value of values) {
      await roster.postgres.change('synchronous_commit', value)
      for (let n = 0; n < writesEach; n++) {
        const began = performance.now()
        await act(roster, 'UpdateMachine', { userId, name: `Price ${time} ${value} ${n}` })
        taken[value]!.push(performance.now() - began)
      }
    }
  await roster.postgres.change('synchronous_commit', 'on')
  return Object.fromEntries(values.map((value) => [value, median(taken[value]!)])) as Price
}

function median(numbers: number[]): number {
  return numbers.toSorted((left, right) => left - right)[Math.floor(numbers.length / 2)]!
}
