// `npm run test:alerts`: brings troubles over a running Roster, and looks which alerts a real Prometheus fires.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Outcome, runAlerts } from './suite.ts'
import { troubles } from './troubles.ts'

const usage = `npm run test:alerts -- [options]
  --only NAMES  of the troubles: a part of a name each, such as pause or notifier↔smtp
  --write       writes the rows of these troubles into docs/operations.md
`

let options
try {
  options = parseArgs({ options: { only: { type: 'string' }, write: { type: 'boolean', default: false } } }).values
} catch (error) {
  console.error(`${(error as Error).message}\n\n${usage}`)
  process.exit(2)
}

const names = options.only?.split(',')
const chosen = troubles.filter(({ name }) => !names || names.some((part) => name.includes(part)))
if (chosen.length === 0)
  throw new Error(`No trouble is named so; known: ${troubles.map(({ name }) => name).join(', ')}`)
const outcomes = await runAlerts(chosen, console.log)
if (options.write) writeTable(outcomes)
const wrong = outcomes.flatMap((outcome) => outcome.wrong.map((text) => `${outcome.trouble}: ${text}`))
for (const text of wrong) console.error(text)
process.exit(wrong.length > 0 ? 1 : 0)

function writeTable(outcomes: Outcome[]): void {
  const file = new URL('../../docs/operations.md', import.meta.url)
  const [begin, end] = ['<!-- alerts: written by npm run test:alerts -- --write -->', '<!-- end of the alerts -->']
  const text = readFileSync(file, 'utf8')
  const [head, tail] = [text.indexOf(begin) + begin.length, text.indexOf(end)]
  const known = [...text.slice(head, tail).matchAll(/^\| (.*?) \| .*$/gm)].map(([row, name]) => [name!, row] as const)
  const made = outcomes.map(({ trouble, fired, after, until }) => {
    return [trouble, `| ${trouble} | ${fired.join(', ') || 'none'} | ${after} s | ${until} s |`] as const
  })
  const all = new Map([...known, ...made])
  const rows = troubles.flatMap(({ name }) => all.get(name) ?? [])
  const table = ['| Trouble | Alerts, and no others | Came after | Ended after |', '|---|---|---|---|', ...rows]
  writeFileSync(file, `${text.slice(0, head)}\n\n${table.join('\n')}\n\n${text.slice(tail)}`)
}
