import { expect, test } from 'vitest'
import { violationsOf } from './outcome.ts'
import { makePlan } from './plan.ts'
import { runSuite } from './suite.ts'

// The short form of `npm run test:faults`: a kill of each process, and one of each other kind of fault.
const seed = 1
const chosen = ['kill', 'pause users', 'cut gateway↔nats', 'stall users↔postgres']

test(
  'a kill -9, a pause or a lost connection under load loses and doubles no write',
  { timeout: 480_000 },
  async () => {
    const outcomes = await runSuite(seed, makePlan(seed, { rounds: 1, pairs: 0, only: chosen }), console.log)
    expect(outcomes.length).toBe(11)
    expect(outcomes.flatMap(violationsOf)).toEqual([])
  },
)
