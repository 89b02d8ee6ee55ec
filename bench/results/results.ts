import { globSync, readFileSync } from 'node:fs'
import type { Backlog } from '../backlog/run.ts'
import type { Left } from '../bytes/run.ts'
import type { Rate } from '../mails/rate.ts'
import type { Memory } from '../memory-of.ts'
import type { Row } from '../speed/report.ts'
import type { TelemetryPrice } from '../telemetry/run.ts'

/** The results of a run, as they are kept in bench/results. Numbers have four digits. */
export type Result = { time: string; commit: string } & (
  | { kind: 'speed'; beside?: string; machine: Record<string, string>; rows: Row[] }
  | { kind: 'replicas'; rows: { name: string; replicas: number; rate: number; cpu: number }[] }
  | {
      kind: 'mails'
      idle: { p50: number; p99: number }
      steady: { p50: number; p99: number }
      drained: Rate
      bare: Rate
      alone: Rate
    }
  | { kind: 'telemetry'; prices: TelemetryPrice[] }
  | ({ kind: 'bytes' } & Left)
  | ({ kind: 'backlog' } & Backlog)
  | {
      kind: 'memory'
      starts: { cold: number; warm: number }
      idle: Record<string, Memory>
      busy: Record<string, Memory>
    }
)

/** All results that are kept, the oldest first. */
export function readResults(): Result[] {
  return globSync('*.json', { cwd: import.meta.dirname })
    .toSorted()
    .map((file) => JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as Result)
}
