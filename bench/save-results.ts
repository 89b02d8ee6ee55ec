import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'

/** What a run measured. */
export type Kind = 'speed' | 'replicas' | 'mails' | 'memory' | 'telemetry' | 'bytes' | 'backlog'

/** Writes the results of a run as a file of bench/results, named after the time and the kind. */
export function saveResults(kind: Kind, results: object): void {
  const commit = commitOf('.')
  const time = new Date().toISOString().slice(0, 16)
  const file = `${time.replaceAll(':', '')}-${kind}.json`
  const text = JSON.stringify({ kind, time, commit, ...results }, rounded, 2)
  writeFileSync(new URL(`results/${file}`, import.meta.url), `${text}\n`)
  console.log(`\nSaved in bench/results/${file}. \`npm run test:unit -- -u\` draws docs/performance.md anew.`)
}

/** The commit of a checkout, with a plus where it was changed. */
export function commitOf(root: string): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  return git('rev-parse', '--short=8', 'HEAD') + (git('status', '--porcelain', '-uno') ? '+' : '')
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value
}
