// `npm run bench -- --only Mails`: the way from a request to the mail server.
import { setTimeout as sleep } from 'node:timers/promises'
import { openClient } from '../load/client.ts'
import { type Line, openHttpLine } from '../load/http.ts'
import { addHumans } from '../load/users.ts'
import type { Workload } from '../load/workloads.ts'
import type { Options } from '../options.ts'
import { cpuTime } from '../cpu.ts'
import { saveResults } from '../save-results.ts'
import { startSystem, type System } from '../system.ts'
import { startSink } from './sink.ts'

const backlog = 5000
// An organization may not send as many mails in an hour.
const organizations = 50
/** Mails a second of the steady load. */
const steadyRate = 500
const patience = 60_000

/** What the issue of each phase may cost at most; the least rate of a notifier. */
const goals = { rate: 1000, p99: 1000, idle: 30 }

/**
 * Measures three things: the rate at which one notifier sends a backlog, the latency of mails at a steady rate, and
 * that of a single mail. Gives the goals that were missed.
 */
export async function measureMails(options: Options): Promise<string[]> {
  const sink = await startSink()
  const arrivals = new Map<string, number>()
  const system = await startSystem({ smtpUrl: sink.url, root: options.beside, profiles: options.profiles })
  sink.onMail = (recipient) => arrivals.set(recipient, performance.now())
  const userIds = await addUsers(system)
  // Each phase opens its own lines, because the gateway closes those that wait.
  const withLines = async <T>(count: number, work: (lines: Line[]) => Promise<T>) => {
    const subjects = { userIds, clients: [], issuer: '', round: 0 }
    const open = () => openHttpLine(system.urls[0]!, system.token, 'json', sendCode, subjects)
    const lines = await Promise.all(Array.from({ length: count }, open))
    const result = await work(lines)
    for (const line of lines) line.close()
    return result
  }
  try {
    console.log('One mail after the other ...')
    await withLines(1, ([line]) => latencyOfOne(line!, arrivals, 20, 0))
    const idle = await withLines(1, ([line]) => latencyOfOne(line!, arrivals, 100, 1000))
    console.log(`${steadyRate} mails a second ...`)
    const steady = await withLines(options.connections, (lines) =>
      steadyLatency(lines, arrivals, options.seconds, 10_000),
    )
    console.log('A backlog ...')
    const drained = await withLines(options.connections, (lines) => drain(system, lines, arrivals, 100_000))
    console.log(`\none mail alone   p50 ${idle.p50.toFixed(1)} ms, p99 ${idle.p99.toFixed(1)} ms`)
    console.log(`${steadyRate} mails a second   p50 ${steady.p50.toFixed(1)} ms, p99 ${steady.p99.toFixed(1)} ms`)
    console.log(
      `a backlog of ${backlog}   ${drained.rate.toFixed(0)} mails/s, CPU µs/mail: ${JSON.stringify(drained.cpu)}`,
    )
    if (options.save) saveResults('mails', { idle, steady, drained })
    return [
      ...(drained.rate < goals.rate ? [`a notifier sends ${drained.rate.toFixed(0)} mails/s`] : []),
      ...(steady.p99 > goals.p99 ? [`at ${steadyRate} mails/s, p99 is ${steady.p99.toFixed(0)} ms`] : []),
      ...(idle.p50 > goals.idle ? [`a single mail takes ${idle.p50.toFixed(0)} ms`] : []),
    ]
  } finally {
    await system.stop()
    await sink.stop()
  }
}

async function addUsers(system: System): Promise<string[]> {
  const client = openClient(system)
  const ids: string[][] = []
  for (let n = 0; n < organizations; n++) {
    const { organizationId } = await client.ask('POST', '/management/v1/orgs', { name: `Mails ${n}` })
    ids.push(await addHumans(system, backlog / organizations, organizationId))
  }
  client.close()
  return ids.flat()
}

const addressOf = (n: number) => `mail-${n}@example.com`

const sendCode: Workload = {
  http: ({ userIds }, n) => ({
    verb: 'POST',
    path: `/v2/users/${userIds[n % userIds.length]}/email`,
    body: JSON.stringify({ email: addressOf(n), sendCode: {} }),
  }),
}

async function latencyOfOne(line: Line, arrivals: Map<string, number>, count: number, first: number) {
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

// An open loop: a request is sent at its time, whether or not those before it were answered.
async function steadyLatency(lines: Line[], arrivals: Map<string, number>, seconds: number, first: number) {
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

async function drain({ services, pids }: System, lines: Line[], arrivals: Map<string, number>, first: number) {
  const { notifier } = services.handles
  await notifier.stop()
  let next = 0
  const drive = async (line: Line) => {
    while (next < backlog) await line.ask(first + next++)
  }
  await Promise.all(lines.map(drive))
  const read = (name: string) => cpuTime(name === 'notifier' ? notifier.pid! : pids[name]![0]!)
  const names = ['notifier', 'users', 'nats-server', 'postgres', 'redis']
  const used = new Map(names.filter((name) => name !== 'notifier').map((name) => [name, read(name)]))
  await notifier.start()
  const times = []
  for (let n = 0; n < backlog; n++) times.push(await arrivalOf(arrivals, first + n))
  const [begin, end] = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))]
  const cpu = names.map((name) => [name, Math.round((read(name) - (used.get(name) ?? 0)) / backlog)] as const)
  return { rate: (backlog - 1) / ((end - begin) / 1000), cpu: Object.fromEntries(cpu) }
}

async function arrivalOf(arrivals: Map<string, number>, n: number): Promise<number> {
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
