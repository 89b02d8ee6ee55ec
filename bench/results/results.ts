import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'

/** Writes the results of a run as a file of bench/results, named after the time, the commit and the kind. */
export function saveResults(kind: string, results: object): void {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
  const commit = git('rev-parse', '--short=8', 'HEAD') + (git('status', '--porcelain', '-uno') ? '+' : '')
  const time = new Date().toISOString().slice(0, 16)
  const file = `${time.replaceAll(':', '')}-${kind}.json`
  const text = JSON.stringify({ kind, time, commit, ...results }, rounded, 2)
  writeFileSync(new URL(file, import.meta.url), `${text}\n`)
  console.log(`\nSaved in bench/results/${file}`)
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value
}
