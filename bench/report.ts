import { execFileSync } from 'node:child_process'
import { cpus, release, totalmem } from 'node:os'
import { type Measured, median } from './measure.ts'
import type { Signing } from './signing.ts'

/** The medians of a workload's rounds. */
export interface Row {
  name: string
  rate: number
  p50: number
  p99: number
  /** The rate divided by that of the bare chain in the round before: the median of the rounds. */
  ofBare: number
  errors: number
  cpu: Record<string, number>
}

/** Summarizes the rounds. Each round of Roster follows a round of the bare chain. */
export function summarize(rounds: Measured[]): Row[] {
  const ratios = new Map(rounds.map((round, index) => [round, round.rate / (rounds[index - 1]?.rate ?? NaN)]))
  const groups = Map.groupBy(rounds, ({ workload, encoding }) =>
    workload === 'bare' ? 'bare chain' : `${workload} ${encoding}`,
  )
  return [...groups].map(([name, group]) => {
    const of = (value: (round: Measured) => number) => median(group.map(value))
    const processes = Object.keys(group[0]!.cpu)
    return {
      name,
      rate: of(({ rate }) => rate),
      p50: of(({ p50 }) => p50),
      p99: of(({ p99 }) => p99),
      ofBare: name === 'bare chain' ? 1 : of((round) => ratios.get(round)!),
      errors: group.reduce((sum, { errors }) => sum + errors.length, 0),
      cpu: Object.fromEntries(processes.map((process_) => [process_, of(({ cpu }) => cpu[process_]!)])),
    }
  })
}

/** Two tables: speed, and CPU time per request of each process. Then the cost of each condition. */
export function render(rows: Row[]): string {
  const speed = [
    ['', 'req/s', 'p50 ms', 'p99 ms', 'of bare', 'errors'],
    ...rows.map(({ name, rate, p50, p99, ofBare, errors }) => [
      name,
      rate.toFixed(0),
      p50.toFixed(1),
      p99.toFixed(1),
      ofBare.toFixed(2),
      String(errors),
    ]),
  ]
  const processes = Object.keys(rows[0]!.cpu)
  const bound = rows.flatMap(({ name, rate }) => {
    const plain = rows.find((row) => row.name === name.replace(/\+\w+/, ''))
    return plain && name.includes('+') ? [`${name}: ${(rate / plain.rate).toFixed(2)} of ${plain.name}`] : []
  })
  const sum = (cpu: Record<string, number>) => Object.values(cpu).reduce((total, value) => total + value, 0)
  const cpu = [
    ['CPU µs/request', ...rows.map(({ name }) => name)],
    ...processes.map((process_) => [process_, ...rows.map((row) => row.cpu[process_]!.toFixed(0))]),
    ['all', ...rows.map((row) => sum(row.cpu).toFixed(0))],
  ]
  return [table(speed), table(cpu), ...(bound.length > 0 ? [bound.join('\n')] : [])].join('\n\n')
}

function table(lines: string[][]): string {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)
  return lines.map((line) => line.map(pad).join('  ')).join('\n')
}

/** Compares the token requests with jose's bare signing, by rate and by CPU time. Empty where there were none. */
export function compareToSigning(rows: Row[], { rate, cpu }: Signing): string {
  const all = (row: Row) => Object.values(row.cpu).reduce((total, value) => total + value, 0)
  const lines = rows
    .filter(({ name }) => name.startsWith('Token'))
    .map(
      (row) => `${row.name}: ${(row.rate / rate).toFixed(2)} of its rate, ${(all(row) / cpu).toFixed(1)} times its CPU`,
    )
  if (lines.length === 0) return ''
  return [`jose alone signs ${rate.toFixed(0)}/s (ES256), ${cpu.toFixed(0)} µs CPU each`, ...lines].join('\n')
}

/** Facts about the machine. No names of hosts or people. */
export function facts(postgres: string): Record<string, string> {
  return {
    cpu: `${cpus().length} × ${cpus()[0]!.model.trim()}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `${process.platform} ${release()} ${process.arch}`,
    node: process.version,
    postgres,
    nats: versionOf('nats-server'),
    redis: versionOf('redis-server'),
  }
}

function versionOf(program: string): string {
  try {
    return /\d+\.\d+\.\d+/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))?.[0] ?? 'unknown'
  } catch {
    return 'unknown'
  }
}
