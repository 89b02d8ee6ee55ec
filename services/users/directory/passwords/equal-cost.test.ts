import { expect, test } from 'vitest'
import type { Work } from '#lib/credentials/argon2-parameters'
import { createEqualCost } from './equal-cost.ts'

/** A machine on which a KiB beyond 32 MiB takes twice as long, and which others kept busy in some rounds. */
function machine({ busy = [] as number[] } = {}) {
  const took = ({ memory, passes }: Work) => 0.05 + memory * passes * (memory > 32_768 ? 1.6e-3 : 0.8e-3)
  let rounds = 0
  const timed: Work[][] = []
  return {
    took,
    timed,
    async time(works: Work[], count: number) {
      return Array.from({ length: count }, () => {
        timed.push(works)
        const isBusy = busy.includes(rounds++)
        return works.map((work, index) => took(work) * (isBusy && index === 0 ? 3 : 1))
      })
    },
  }
}

const works = {
  'm=47104,t=1,p=1': { memory: 47_104, passes: 1, parallelism: 1 },
  'm=19456,t=2,p=1': { memory: 19_456, passes: 2, parallelism: 1 },
  'm=7168,t=5,p=1': { memory: 7168, passes: 5, parallelism: 1 },
}
const all = Object.keys(works)

test('a check of a cheaper hash takes as long as one of the dearest, with what it computes beside it', async () => {
  const { time, took } = machine({ busy: [0, 3] })
  const { dearest, filler } = await createEqualCost(time)(all)
  expect(dearest).toBe('m=47104,t=1,p=1')
  const dear = took(works['m=47104,t=1,p=1'])
  expect(filler(dearest)).toBeUndefined()
  for (const [parameters, work] of Object.entries(works).slice(1)) {
    const total = took(work) + took(filler(parameters)!)
    expect(Math.abs(total / dear - 1), parameters).toBeLessThan(0.01)
  }
})

test('where all hashes have the same parameters, nothing is timed', async () => {
  const { time, timed } = machine()
  const { dearest, filler } = await createEqualCost(time)(['m=7168,t=5,p=1'])
  expect([dearest, filler(dearest), timed]).toEqual(['m=7168,t=5,p=1', undefined, []])
})

test('parameters are timed when they come, and those that are known are not timed for it again', async () => {
  const { time, timed } = machine()
  const costOf = createEqualCost(time)
  await costOf(all.slice(0, 2))
  const first = timed.length
  await costOf(all.slice(0, 2))
  expect(timed).toHaveLength(first)
  const { filler } = await costOf(all)
  expect(timed).toHaveLength(2 * first)
  expect(filler('m=7168,t=5,p=1')).toBeDefined()
  await costOf(all.slice(1))
  expect(timed).toHaveLength(2 * first)
})
