// `npm run bench -- --only Telemetry`.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Plugin } from 'rolldown'
import { bundle } from '../../deploy/bundle/bundle.ts'
import { cpuTime } from '../cpu.ts'
import { openHttpLine } from '../load/http.ts'
import { addHumans } from '../load/users.ts'
import { workloads } from '../load/workloads.ts'
import type { Options } from '../options.ts'
import { saveResults } from '../save-results.ts'
import { median, sum } from '../speed/measure.ts'
import { table } from '../speed/report.ts'
import { startSystem, type System } from '../system.ts'
import { startCollector } from './collector.ts'

/** The most that telemetry may cost, in percent of the rate. */
const mostPrice = 3
const warmUp = 8000
/** Milliseconds with telemetry, then without it, or the other way round. Noise of the machine mostly hits both. */
const slice = 250
const settles = 10

/** What telemetry costs one workload. */
export interface TelemetryPrice {
  name: string
  /** Requests per second without and with it. */
  off: number
  on: number
  /** The mean price in percent of the rate, with its standard error. */
  price: number
  error: number
  /** CPU time in microseconds per request without and with it, by process. */
  cpu: Record<string, { off: number; on: number }>
}

/**
 * Measures the price of metrics and of 1 % of all traces. One system turns its telemetry on and off under load, since
 * two systems of the same code differ by more than the price. Gives the prices that are too high by more than twice
 * their standard error: 25 rounds have one of about 1 %.
 */
export async function measureTelemetry(options: Options): Promise<string[]> {
  const collector = await startCollector()
  const settings = {
    ...collector.settings,
    // Only full batches are sent, so as few as in a busy system. Some fall into slices without telemetry.
    OTEL_BSP_SCHEDULE_DELAY: '60000',
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
      .map(({ name, price }) => `${name}: telemetry costs ${price.toFixed(1)} % of the rate`)
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

/** A slice: requests per second, all requests, and the CPU time of each process. */
interface Slice {
  rate: number
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
  const open = () => openHttpLine(urls[0]!, token, 'json', workloads[workload], subjects)
  const lines = await Promise.all(Array.from({ length: connections }, open))
  const over = new AbortController()
  let [sent, done] = [0, 0]
  const loading = Promise.all(
    lines.map(async ({ ask }) => {
      for (; !over.signal.aborted; done++) await ask(sent++)
    }),
  )

  const read = () => ({
    at: performance.now(),
    done,
    cpu: Object.entries(pids).map(([name, all]) => [name, sum(all.map(cpuTime))] as const),
  })
  async function take(isOn: boolean): Promise<Slice> {
    for (const name of ['gateway', 'users', 'grants', 'idp', 'notifier'])
      for (const pid of pids[name]!) process.kill(pid, isOn ? 'SIGUSR2' : 'SIGHUP')
    await sleep(settles)
    const before = read()
    await Promise.race([sleep(slice), loading])
    const after = read()
    const cpu = after.cpu.map(([name, time], index) => [name, time - before.cpu[index]![1]])
    const number = after.done - before.done
    return { rate: number / ((after.at - before.at) / 1000), done: number, cpu: Object.fromEntries(cpu) }
  }

  console.log(`${workload}: warming up ...`)
  await Promise.race([sleep(warmUp), loading])
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
  const mean = sum(pairs.map(({ off }) => off.rate)) / pairs.length
  const differences = pairs.map(({ on, off }) => ((off.rate - on.rate) / mean) * 100)
  const price = sum(differences) / pairs.length
  const variance = sum(differences.map((difference) => (difference - price) ** 2)) / (pairs.length - 1)
  const costOf = (name: string, state: 'on' | 'off') =>
    sum(pairs.map((pair) => pair[state].cpu[name]!)) / sum(pairs.map((pair) => pair[state].done))
  return {
    off: median(pairs.map(({ off }) => off.rate)),
    on: median(pairs.map(({ on }) => on.rate)),
    price,
    error: Math.sqrt(variance / pairs.length),
    cpu: Object.fromEntries(processes.map((name) => [name, { off: costOf(name, 'off'), on: costOf(name, 'on') }])),
  }
}

function print(prices: TelemetryPrice[]): void {
  const lines = prices.map(({ name, off, on, price, error, cpu }) => [
    name,
    off.toFixed(0),
    on.toFixed(0),
    `${price.toFixed(1)} ± ${error.toFixed(1)}`,
    ...['gateway', 'users'].map((process_) => (cpu[process_]!.on - cpu[process_]!.off).toFixed(1)),
  ])
  const titles = ['', 'req/s without', 'with', 'price %', 'gateway CPU µs more', 'users CPU µs more']
  console.log(`\n${table([titles, ...lines])}`)
}
