import { cpuTime } from '../cpu.ts'
import type { Generator } from '../load/generator.ts'
import type { Round, RoundResult } from '../load/load.ts'

/** One round and its costs. */
export interface Measured extends RoundResult {
  /** Requests per second. */
  rate: number
  /** CPU time in microseconds per request, by process. Replicas of a service count together. */
  cpu: Record<string, number>
}

/** Runs a round and counts every process's CPU time until the round's work is over. */
export async function measure(
  round: Round,
  generator: Generator,
  pids: Record<string, number[]>,
  settled: () => Promise<void>,
): Promise<Measured> {
  const read = () => Object.entries(pids).map(([name, all]) => [name, sum(all.map(cpuTime))] as const)
  const before = new Map(read())
  const result = await generator.run(round)
  await settled()
  const cpu = read().map(([name, after]) => [name, (after - before.get(name)!) / result.acknowledged])
  return { ...result, rate: result.timed / result.seconds, cpu: Object.fromEntries(cpu) }
}

export function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

export function median(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
