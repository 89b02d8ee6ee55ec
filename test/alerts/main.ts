// `npm run test:alerts`: brings troubles over a running Roster, and looks which alerts a real Prometheus fires.
import { parseArgs } from 'node:util'
import { documentPart } from '../support/document-part.ts'
import { brief } from './lasting.ts'
import { type Outcome, runAlerts } from './suite.ts'
import { troubles } from './troubles.ts'

const usage = `npm run test:alerts -- [options]
  --only NAMES  of the troubles: a part of a name each, such as pause or notifier↔smtp
  --brief       less time for each: enough for critical alerts, not for all warnings
  --write       writes the rows of these troubles into docs/operations.md
`

let options
try {
  const flag = { type: 'boolean', default: false } as const
  options = parseArgs({ options: { only: { type: 'string' }, brief: flag, write: flag } }).values
  if (options.brief && options.write) throw new Error('The table is of troubles that lasted: --brief writes none.')
} catch (error) {
  console.error(`${(error as Error).message}\n\n${usage}`)
  process.exit(2)
}

const names = options.only?.split(',')
const chosen = troubles.filter(({ name }) => !names || names.some((part) => name.includes(part)))
if (chosen.length === 0)
  throw new Error(`No trouble is named so; known: ${troubles.map(({ name }) => name).join(', ')}`)
const outcomes = await runAlerts(chosen, console.log, options.brief ? brief : undefined)
if (options.write) writeTable(outcomes)
const wrong = outcomes.flatMap((outcome) => outcome.wrong.map((text) => `${outcome.trouble}: ${text}`))
for (const text of wrong) console.error(text)
process.exit(wrong.length > 0 ? 1 : 0)

function writeTable(outcomes: Outcome[]): void {
  const part = documentPart('operations.md', 'alerts')
  const known = [...part.text.matchAll(/^\| (.*?) \| .*$/gm)].map(([row, name]) => [name!, row] as const)
  const made = outcomes.map(({ trouble, fired, after, until }) => {
    return [trouble, `| ${trouble} | ${fired.join(', ') || 'none'} | ${after} s | ${until} s |`] as const
  })
  const all = new Map([...known, ...made])
  const rows = troubles.flatMap(({ name }) => all.get(name) ?? [])
  const table = ['| Trouble | Alerts, and no others | Came after | Ended after |', '|---|---|---|---|', ...rows]
  part.replace(table.join('\n'))
}
