// `npm run test:failover`: what Roster loses, and for how long it stands still, on highly available servers.
import { parseArgs } from 'node:util'
import { whatIsMissing } from './missing.ts'
import { runSuite } from './suite.ts'
import { summarize, writeTable } from './table.ts'
import { troubles } from './troubles.ts'

const usage = `npm run test:failover -- [options]
  --only NAMES  of the troubles: a part of a name each, such as switchover or Redis
  --seed N      decides the load (chosen and printed)
  --write       writes the table into docs/reliability.md
`

let options
try {
  options = parseArgs({
    options: {
      only: { type: 'string' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
      write: { type: 'boolean', default: false },
    },
  }).values
} catch (error) {
  console.error(`${(error as Error).message}\n\n${usage}`)
  process.exit(2)
}

const missing = whatIsMissing()
if (missing !== undefined) {
  console.error(missing)
  process.exit(2)
}
const only = options.only?.split(',')
const chosen = troubles.filter(({ name }) => only?.some((part) => name.includes(part)) ?? true)
console.log(`Seed ${options.seed}: ${chosen.length} troubles ...`)
const results = await runSuite(Number(options.seed), chosen, { priced: !only, say: console.log })
console.log(`\n${summarize(results)}`)
if (options.write) writeTable(results)
for (const sentence of results.readers) console.error(sentence)
const wrong = results.readers.length + results.results.reduce((total, { sentences }) => total + sentences.length, 0)
process.exit(wrong > 0 ? 1 : 0)
