// `npm run bench -- --only Telemetry`.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Plugin } from 'rolldown'
import { bundle } from '../../deploy/bundle/bundle.ts'
import { cpuTimes } from '../cpu.ts'
import { openHttpLine } from '../load/http.ts'
import { addHumans } from '../load/users.ts'
import { workloads } from '../load/workloads.ts'
import type { Options } from '../options.ts'
import { saveResults } from '../save-results.ts'
import { sum } from '../speed/measure.ts'
import { table } from '../speed/report.ts'
import { startSystem, type System } from '../system.ts'
import { startCollector } from './collector.ts'

/** The most that telemetry may cost, in percent of the CPU time. */
const mostPrice = 5
/** Milliseconds, as often as it takes for so many requests. */
const warmUp = 8000
/** Each is sampled, so V8 has seen as many spans as after 500,000 at 1 %. It compiles what it has often seen. */
const warmRequests = 5000
/** Milliseconds with telemetry, then without it, or the other way round. Noise of the machine mostly hits both. */
const slice = 250
const settles = 10

/** What telemetry costs one workload. */
export interface TelemetryPrice {
  name: string
  /** CPU time of all processes in microseconds per request, without and with it. */
  off: number
  on: number
  /**
   * The mean price in percent of that time, with its standard error. Rates would measure what else the machine does.
   */
  price: number
  error: number
  /** The same by process. */
  cpu: Record<string, { off: number; on: number }>
}

/**
 * Measures the price of metrics and of 1 % of all traces. One system switches its telemetry on and off under load,
 * since two systems of the same code differ by more than the price. Returns the prices that are too high by more than
 * twice their standard error: 25 rounds have one of about 1 %.
 */
export async function measureTelemetry(options: Options): Promise<string[]> {
  const collector = await startCollector()
  const settings = {
    ...collector.settings,
    // Only full batches are sent, so as few as in a busy system. Some fall into slices without telemetry.
    OTEL_BSP_SCHEDULE_DELAY: '60000',
    // For the warm-up.
    TRUST_TRACEPARENT: 'true',
  }
  const root = mkdtempSync(join(tmpdir(), 'roster-bench-bundles-'))
  await bundle(root, [addSwitch])
  const system = await startSystem({ root, settings })
  try {
    const userIds = await addHumans(system, options.users)
    const prices: TelemetryPrice[] = []
    for (const workload of ['SetEmail', 'GetUser'] as const)
      prices.push(await priceOf(workload, system, userIds, options))
    print(prices)
    if (options.save) saveResults('telemetry', { prices })
    return prices
      .filter(({ price, error }) => price - 2 * error > mostPrice)
      .map(({ name, price }) => `${name}: telemetry costs ${price.toFixed(1)} % of the CPU time`)
  } finally {
    await system.stop()
    await collector.stop()
    rmSync(root, { recursive: true })
  }
}

const addSwitch: Plugin = {
  name: 'add-switch',
  transform: {
    filter: { id: /services\/\w+\/main\.ts$/ },
    handler: (code) => ({ code: `import '${join(import.meta.dirname, 'switch.ts')}';${code}`, map: null }),
  },
}

/** A slice: its requests, and the CPU time of each process. */
interface Slice {
  done: number
  cpu: Record<string, number>
}

async function priceOf(
  workload: 'SetEmail' | 'GetUser',
  { urls, token, pids }: System,
  userIds: string[],
  { connections, seconds, rounds }: Options,
): Promise<TelemetryPrice> {
  const subjects = { userIds, clients: [], round: Date.now() }
  let isWarm = false
  const sampled = `traceparent: 00-${'1'.repeat(32)}-${'1'.repeat(16)}-01\r\n`
  const open = () => openHttpLine(urls[0]!, token, 'json', workloads[workload], subjects, () => (isWarm ? '' : sampled))
  const lines = await Promise.all(Array.from({ length: connections }, open))
  const over = new AbortController()
  let [sent, done] = [0, 0]
  const loading = Promise.all(
    lines.map(async ({ ask }) => {
      for (; !over.signal.aborted; done++) await ask(sent++)
    }),
  )

  const read = () => {
    const times = cpuTimes(Object.values(pids).flat())
    return { done, cpu: Object.entries(pids).map(([name, all]) => [name, sum(times.splice(0, all.length))] as const) }
  }
  async function take(isOn: boolean): Promise<Slice> {
    for (const name of ['gateway', 'users', 'grants', 'idp', 'notifier'])
      for (const pid of pids[name]!) process.kill(pid, isOn ? 'SIGUSR2' : 'SIGHUP')
    await sleep(settles)
    const before = read()
    await Promise.race([sleep(slice), loading])
    const after = read()
    const cpu = after.cpu.map(([name, time], index) => [name, time - before.cpu[index]![1]])
    return { done: after.done - before.done, cpu: Object.fromEntries(cpu) }
  }

  console.log(`${workload}: warming up ...`)
  for (let warm = 0; warm < warmRequests; warm = done) await Promise.race([sleep(warmUp), loading])
  isWarm = true
  const pairs: { on: Slice; off: Slice }[] = []
  const ends = performance.now() + rounds * seconds * 1000
  while (performance.now() < ends) {
    const first = pairs.length % 2 === 0
    const [one, other] = [await take(first), await take(!first)]
    pairs.push(first ? { on: one, off: other } : { on: other, off: one })
  }
  over.abort()
  await loading
  for (const line of lines) line.close()
  return { name: `${workload} json`, ...summarize(pairs, Object.keys(pids)) }
}

function summarize(pairs: { on: Slice; off: Slice }[], processes: string[]): Omit<TelemetryPrice, 'name'> {
  const costOf = (state: 'on' | 'off', names: string[]) =>
    sum(pairs.flatMap((pair) => names.map((name) => pair[state].cpu[name]!))) /
    sum(pairs.map((pair) => pair[state].done))
  const [off, on] = [costOf('off', processes), costOf('on', processes)]
  // What each slice used beyond the mean cost of its requests. A mean of quotients would count short slices as much as long ones.
  const strays = pairs.map((pair) => strayOf(pair.on, on) - strayOf(pair.off, off))
  const done = sum(pairs.map((pair) => pair.on.done + pair.off.done)) / 2
  return {
    off,
    on,
    price: ((on - off) / off) * 100,
    error: (Math.sqrt(sum(strays.map((stray) => stray ** 2))) / done / off) * 100,
    cpu: Object.fromEntries(processes.map((name) => [name, { off: costOf('off', [name]), on: costOf('on', [name]) }])),
  }
}

function strayOf({ cpu, done }: Slice, cost: number): number {
  return sum(Object.values(cpu)) - done * cost
}

function print(prices: TelemetryPrice[]): void {
  const lines = prices.map(({ name, off, on, price, error, cpu }) => [
    name,
    off.toFixed(0),
    on.toFixed(0),
    `${price.toFixed(1)} ± ${error.toFixed(1)}`,
    ...['gateway', 'users'].map((process_) => (cpu[process_]!.on - cpu[process_]!.off).toFixed(1)),
  ])
  const titles = ['', 'CPU µs without', 'with', 'price %', 'gateway CPU µs more', 'users CPU µs more']
  console.log(`\n${table([titles, ...lines])}`)
}
