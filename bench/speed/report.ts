import { execFileSync } from 'node:child_process'
import { cpus, release, totalmem } from 'node:os'
import { type Measured, median, sum } from './measure.ts'

/** A round under the name of its row. */
export interface Run {
  name: string
  measured: Measured
  /** Its rate divided by that of the bare chain in the round before. */
  ofBare: number
}

/** The medians of a workload's rounds. */
export interface Row {
  name: string
  rate: number
  p50: number
  p99: number
  ofBare: number
  errors: number
  /** CPU time in microseconds per request, by process. */
  cpu: Record<string, number>
}

export function summarize(runs: Run[]): Row[] {
  return [...Map.groupBy(runs, ({ name }) => name)].map(([name, group]) => {
    const of = (value: (run: Run) => number) => median(group.map(value))
    const processes = Object.keys(group[0]!.measured.cpu)
    return {
      name,
      rate: of(({ measured }) => measured.rate),
      p50: of(({ measured }) => measured.p50),
      p99: of(({ measured }) => measured.p99),
      ofBare: of(({ ofBare }) => ofBare),
      errors: sum(group.map(({ measured }) => measured.errors.length)),
      cpu: Object.fromEntries(processes.map((process_) => [process_, of(({ measured }) => measured.cpu[process_]!)])),
    }
  })
}

/** Two tables: speed, and CPU time per request of each process. */
export function render(rows: Row[]): string {
  const processes = Object.keys(rows[0]!.cpu)
  const cpu = [
    ['CPU µs/request', ...rows.map(({ name }) => name)],
    ...processes.map((process_) => [process_, ...rows.map((row) => row.cpu[process_]!.toFixed(0))]),
    ['all', ...rows.map((row) => all(row).toFixed(0))],
  ]
  return [renderSpeed(rows), table(cpu)].join('\n\n')
}

function renderSpeed(rows: Row[]): string {
  return table([
    ['', 'req/s', 'p50 ms', 'p99 ms', 'of bare', 'errors'],
    ...rows.map(({ name, rate, p50, p99, ofBare, errors }) => [
      name,
      rate.toFixed(0),
      p50.toFixed(1),
      p99.toFixed(1),
      ofBare.toFixed(2),
      String(errors),
    ]),
  ])
}

/** Lines whose first column is aligned to the left, and the others to the right. */
export function table(lines: string[][]): string {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)
  return lines.map((line) => line.map(pad).join('  ')).join('\n')
}

function all({ cpu }: Row): number {
  return sum(Object.values(cpu))
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
