import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import type { Memory } from '../memory-of.ts'
import type { Parts } from '../speed/parts.ts'
import type { Row } from '../speed/report.ts'

/** The results of a run, as they are kept in bench/results. Numbers have four digits. */
export type Result = { time: string; commit: string } & (
  | { kind: 'speed'; machine: Record<string, string>; rows: Row[] }
  | { kind: 'profile'; machine: Record<string, string>; rows: Row[]; parts: Record<string, Parts> }
  | { kind: 'replicas' | 'hot-user'; rows: { name: string; replicas: number; rate: number; cpu: number }[] }
  | {
      kind: 'mails'
      idle: { p50: number; p99: number }
      steady: { p50: number; p99: number }
      drained: { rate: number; cpu: Record<string, number> }
    }
  | {
      kind: 'memory'
      starts: { cold: number; warm: number }
      idle: Record<string, Memory>
      busy: Record<string, Memory>
    }
)

/** Writes the results of a run as a file of bench/results, named after the time and the kind. */
export function saveResults(kind: Result['kind'], results: object): void {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
  const commit = git('rev-parse', '--short=8', 'HEAD') + (git('status', '--porcelain', '-uno') ? '+' : '')
  const time = new Date().toISOString().slice(0, 16)
  const file = `${time.replaceAll(':', '')}-${kind}.json`
  const text = JSON.stringify({ kind, time, commit, ...results }, rounded, 2)
  writeFileSync(new URL(file, import.meta.url), `${text}\n`)
  console.log(`\nSaved in bench/results/${file}. \`npm run test:unit -- -u\` draws docs/performance.md anew.`)
}

/** All results that are kept, the oldest first. */
export function readResults(): Result[] {
  return globSync('*.json', { cwd: import.meta.dirname })
    .toSorted()
    .map((file) => JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as Result)
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value
}
