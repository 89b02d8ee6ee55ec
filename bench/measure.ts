import type { Check } from './check.ts'
import { cpuTime } from './cpu.ts'
import type { Generator } from './generator.ts'
import type { Round, RoundResult } from './load.ts'

/** One round and its costs. */
export interface Measured extends RoundResult {
  workload: Round['workload']
  encoding: Round['encoding']
  /** Requests per second. */
  rate: number
  /** CPU time in microseconds per request, by process. */
  cpu: Record<string, number>
}

/** Runs a round and counts every process's CPU time until its last event is published. */
export async function measure(
  round: Round,
  generator: Generator,
  pids: Record<string, number>,
  check: Check,
): Promise<Measured> {
  const read = () => Object.entries(pids).map(([name, pid]) => [name, cpuTime(pid)] as const)
  const before = new Map(read())
  const result = await generator.run(round)
  await check.settled()
  const cpu = read().map(([name, after]) => [name, (after - before.get(name)!) / result.acknowledged])
  const { workload, encoding } = round
  return { ...result, workload, encoding, rate: result.timed / result.seconds, cpu: Object.fromEntries(cpu) }
}

export function median(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
