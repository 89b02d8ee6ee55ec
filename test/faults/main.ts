// `npm run test:faults`: inflicts every fault, and pairs of faults, under a load of keyed writes.
import { parseArgs } from 'node:util'
import { summarize, writeMatrix } from './matrix.ts'
import { violationsOf } from './outcome.ts'
import { makePlan } from './plan.ts'
import { runSuite } from './suite.ts'

const usage = `npm run test:faults -- [options]
  --seed N      decides the faults, their times and the load (chosen and printed)
  --rounds N    how often each fault comes (1)
  --pairs N     pairs of faults in each of these (24)
  --only NAMES  of the faults: a part of a name each, such as kill or users↔nats
  --write       writes the matrix into docs/reliability.md
`

let options
try {
  options = parseArgs({
    options: {
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
      rounds: { type: 'string', default: '1' },
      pairs: { type: 'string', default: '24' },
      only: { type: 'string' },
      write: { type: 'boolean', default: false },
    },
  }).values
} catch (error) {
  console.error(`${(error as Error).message}\n\n${usage}`)
  process.exit(2)
}

const seed = Number(options.seed)
const plan = makePlan(seed, {
  rounds: Number(options.rounds),
  pairs: Number(options.pairs),
  only: options.only?.split(','),
})
console.log(`Seed ${seed}: ${plan.length} rounds ...`)
const outcomes = await runSuite(seed, plan, console.log)
console.log(`\n${summarize(outcomes)}`)
if (options.write) writeMatrix(seed, outcomes)
const violations = outcomes.flatMap(violationsOf)
for (const violation of violations) console.error(violation)
if (violations.length > 0) console.error(`\nAgain: npm run test:faults -- --seed ${seed}`)
process.exit(violations.length > 0 ? 1 : 0)
