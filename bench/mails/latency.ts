// How long mails are under way, from the request to the mail server.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Line } from '../load/http.ts'

/** Mails a second of the steady load. */
export const steadyRate = 500

const patience = 60_000

export const addressOf = (n: number) => `mail-${n}@example.com`

/** Sends one mail after the other. */
export async function latencyOfOne(line: Line, arrivals: Map<string, number>, count: number, first: number) {
  const latencies: number[] = []
  for (let n = first; n < first + count; n++) {
    const sent = performance.now()
    await line.ask(n)
    latencies.push((await arrivalOf(arrivals, n)) - sent)
    // Until the outcome is recorded and published, so that the next mail finds an idle system.
    await sleep(100)
  }
  return quantiles(latencies)
}

/** Sends at a steady rate: a request at its time, whether or not those before it were answered. */
export async function steadyLatency(lines: Line[], arrivals: Map<string, number>, seconds: number, first: number) {
  const begin = performance.now()
  const count = steadyRate * seconds
  const free = [...lines]
  const sent: number[] = []
  const asked: Promise<void>[] = []
  while (sent.length < count) {
    const due = Math.min(count, Math.floor(((performance.now() - begin) / 1000) * steadyRate))
    while (sent.length < due && free.length > 0) {
      const line = free.pop()!
      asked.push(line.ask(first + sent.length).then(() => void free.push(line)))
      // A request that no line was free for has waited since its time.
      sent.push(begin + (sent.length / steadyRate) * 1000)
    }
    await sleep(1)
  }
  await Promise.all(asked)
  const latencies = []
  for (const [n, at] of sent.entries()) latencies.push((await arrivalOf(arrivals, first + n)) - at)
  return quantiles(latencies)
}

/** Waits for a mail and returns the time when it came. */
export async function arrivalOf(arrivals: Map<string, number>, n: number): Promise<number> {
  for (const until = performance.now() + patience; performance.now() < until; await sleep(1)) {
    const arrival = arrivals.get(addressOf(n))
    if (arrival !== undefined) return arrival
  }
  throw new Error(`the mail to ${addressOf(n)} did not come within a minute`)
}

function quantiles(latencies: number[]) {
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)]!
  return { p50: at(0.5), p99: at(0.99) }
}
