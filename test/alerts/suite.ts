import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { startRunning } from '../faults/running.ts'
import { lastingFor, scale } from './lasting.ts'
import { type Prometheus, startPrometheus } from './prometheus.ts'
import { startTraffic } from './traffic.ts'
import type { Trouble } from './troubles.ts'

/** What a trouble brought. */
export interface Outcome {
  trouble: string
  /** The alerts that fired. */
  fired: string[]
  /** Seconds from the trouble to the last of its alerts, and from its end to silence. */
  after: number
  until: number
  /** What is wrong with that. */
  wrong: string[]
}

const firesWithin = 120_000
const endsWithin = 120_000

/** Brings troubles over a Roster, one by one, so many seconds each or longer, while Prometheus reads its metrics. */
export async function runAlerts(
  troubles: Trouble[],
  say: (line: string) => void,
  lasts = lastingFor(),
): Promise<Outcome[]> {
  // Five in a row, where `freePort` takes none.
  const port = randomInt(30_000, 32_000)
  const running = await startRunning({
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
    SMTP_TIMEOUT: '2',
    CHECKPOINT_INTERVAL: '1',
  })
  const begun: { stop(): Promise<void> | void }[] = [running]
  try {
    const prometheus = await startPrometheus(running.servers.home, port, scale)
    begun.push(prometheus)
    const traffic = await startTraffic(running)
    begun.push(traffic)
    await silence(prometheus)
    const outcomes: Outcome[] = []
    for (const trouble of troubles) {
      const began = performance.now()
      const mend = await trouble.make(running, traffic)
      const { fired, at } = await watch(prometheus, trouble.alerts, lasts * 1000)
      await mend()
      const ended = performance.now()
      const late = await silence(prometheus, fired)
      const outcome = {
        trouble: trouble.name,
        fired: [...fired].toSorted(),
        after: trouble.alerts.length > 0 ? seconds(at - began) : 0,
        until: seconds(performance.now() - ended),
        wrong: [
          ...trouble.alerts.filter((name) => !fired.has(name)).map((name) => `${name} did not fire`),
          ...[...fired].filter((name) => !trouble.alerts.includes(name)).map((name) => `${name} fired`),
          ...late.map((name) => `${name} did not end`),
        ],
      }
      outcomes.push(outcome)
      say(
        `${trouble.name}: ${outcome.fired.join(', ') || 'nothing'} after ${outcome.after} s, ended ${outcome.until} s`,
      )
      for (const wrong of outcome.wrong) say(`  ${wrong}`)
    }
    return outcomes
  } finally {
    for (const part of begun.toReversed()) await part.stop()
  }
}

// Waits for these alerts, a while for others to be pending, and for those that are. Returns all that fired, and when
// the last of these did.
async function watch(prometheus: Prometheus, wanted: string[], lasts: number) {
  const fired = new Set<string>()
  const began = performance.now()
  let at = began
  for (;;) {
    for (const name of await prometheus.firing()) {
      if (wanted.includes(name) && !fired.has(name)) at = performance.now()
      fired.add(name)
    }
    const lasted = performance.now() - began
    const isSettled = [...wanted, ...(await prometheus.active())].every((name) => fired.has(name))
    if (lasted > firesWithin || (lasted > lasts && isSettled)) return { fired, at }
    await sleep(250)
  }
}

// Waits until no alert is left, and adds those that come meanwhile. Returns those that do not end.
async function silence(prometheus: Prometheus, fired = new Set<string>()): Promise<string[]> {
  const began = performance.now()
  for (;;) {
    for (const name of await prometheus.firing()) fired.add(name)
    const left = await prometheus.active()
    if (left.length === 0 || performance.now() - began > endsWithin) return left
    await sleep(250)
  }
}

function seconds(milliseconds: number): number {
  return Math.round(milliseconds / 1000)
}
