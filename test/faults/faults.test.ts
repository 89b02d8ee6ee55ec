import { expect, test } from 'vitest'
import { isLong } from '#test/support/long'
import { violationsOf } from './outcome.ts'
import { makePlan } from './plan.ts'
import { runSuite } from './suite.ts'

// The short form of `npm run test:faults`: a kill of each process, and one of each other kind of fault. CI, where nothing
// may run beside it, kills one process of each kind: a service, the worker, what carries messages, what keeps them.
const seed = 1
const killed = isLong ? ['kill'] : ['kill -9 users', 'kill -9 notifier', 'kill -9 nats', 'kill -9 postgres']
const chosen = [...killed, 'pause users', 'cut gateway↔nats', 'stall users↔postgres']

test(
  'a kill -9, a pause or a lost connection under load loses and doubles no write',
  { timeout: 480_000 },
  async () => {
    const outcomes = await runSuite(seed, makePlan(seed, { rounds: 1, pairs: 0, only: chosen }), console.log)
    expect(outcomes.length).toBe(isLong ? 11 : 7)
    expect(outcomes.flatMap(violationsOf)).toEqual([])
  },
)
