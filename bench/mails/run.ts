// `npm run bench -- --only Mails`: the way from a request to the mail server.
import { setTimeout as sleep } from 'node:timers/promises'
import { openClient } from '../load/client.ts'
import { type Line, openHttpLine } from '../load/http.ts'
import { addHumans } from '../load/users.ts'
import type { Workload } from '../load/workloads.ts'
import type { Options } from '../options.ts'
import { saveResults } from '../save-results.ts'
import { median } from '../speed/measure.ts'
import { startSystem, type System } from '../system.ts'
import { startBareMailChain } from './bare-chain.ts'
import { addressOf, arrivalOf, latencyOfOne, steadyLatency, steadyRate } from './latency.ts'
import { type Rate, rateOf } from './rate.ts'
import { startSink } from './sink.ts'

const backlog = 5000
// An organization may not send as many mails in an hour.
const organizations = 50

/** Seconds of the steady load that do not count: the processes have just begun. */
const warmUp = 4
/** Milliseconds in which the ends of the last mails are recorded. */
const restBefore = 1000

/** What the issue of each phase may cost at most; the least rate of a notifier. */
const goals = { rate: 1000, p99: 1000, idle: 30 }

/**
 * Measures three things: the rate at which one notifier sends a backlog, alternating with the bare mail chain; the
 * latency of mails at a steady rate; and that of a single mail. Returns the goals that were missed.
 */
export async function measureMails(options: Options): Promise<string[]> {
  const sink = await startSink()
  const arrivals = new Map<string, number>()
  const system = await startSystem({ smtpUrl: sink.url, root: options.beside })
  sink.onMail = (recipient) => arrivals.set(recipient, performance.now())
  const chain = startBareMailChain(system, sink)
  const userIds = await addUsers(system)
  // Each phase opens its own lines, because the gateway closes those that wait.
  const withLines = async <T>(count: number, work: (lines: Line[]) => Promise<T>) => {
    const subjects = { userIds, clients: [], round: 0 }
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
    const load = (seconds: number, first: number) =>
      withLines(options.connections, (lines) => steadyLatency(lines, arrivals, seconds, first))
    await load(warmUp, 10_000)
    const steady = await load(options.seconds, 20_000)
    // The notifier, too, has sent thousands of mails by now.
    await chain.measure(backlog, 'queued')
    const [drained, bare, alone]: [Rate[], Rate[], Rate[]] = [[], [], []]
    for (let round = 1; round <= options.rounds; round++) {
      console.log(`A backlog, round ${round} ...`)
      await sleep(restBefore)
      alone.push(await chain.measure(backlog, 'alone'))
      bare.push(await chain.measure(backlog, 'queued'))
      drained.push(
        await withLines(options.connections, (lines) => drain(system, lines, arrivals, 1_000_000 + round * backlog)),
      )
    }
    const rates = { drained: medianOf(drained), bare: medianOf(bare), alone: medianOf(alone) }
    console.log(`\none mail alone   p50 ${idle.p50.toFixed(1)} ms, p99 ${idle.p99.toFixed(1)} ms`)
    console.log(`${steadyRate} mails a second   p50 ${steady.p50.toFixed(1)} ms, p99 ${steady.p99.toFixed(1)} ms`)
    for (const [name, { rate, cpu }] of Object.entries(rates)) {
      const costs = Object.entries(cpu).map(([process_, cost]) => `${process_} ${cost.toFixed(0)}`)
      console.log(`${names[name as keyof typeof rates]}   ${rate.toFixed(0)} mails/s, CPU µs/mail: ${costs.join(', ')}`)
    }
    if (options.save) saveResults('mails', { idle, steady, ...rates })
    const { rate } = rates.drained
    return [
      ...(rate < goals.rate ? [`a notifier sends ${rate.toFixed(0)} mails/s`] : []),
      ...(steady.p99 > goals.p99 ? [`at ${steadyRate} mails/s, p99 is ${steady.p99.toFixed(0)} ms`] : []),
      ...(idle.p50 > goals.idle ? [`a single mail takes ${idle.p50.toFixed(0)} ms`] : []),
    ]
  } finally {
    chain.stop()
    await system.stop()
    await sink.stop()
  }
}

const names = {
  drained: `a backlog of ${backlog}`,
  bare: 'the bare mail chain',
  alone: 'its connections alone',
}

async function addUsers(system: System): Promise<string[]> {
  const client = openClient(system)
  const ids: string[][] = []
  for (let n = 0; n < organizations; n++) {
    const { organizationId } = await client.ask('POST', '/management/v1/orgs', { name: `Mails ${n}` })
    ids.push(await addHumans(system, backlog / organizations, organizationId))
  }
  client.close()
  // Mails of a moment come from all organizations.
  return Array.from({ length: backlog }, (_, n) => ids[n % organizations]![Math.floor(n / organizations)]!)
}

const sendCode: Workload = {
  http: ({ userIds }, n) => ({
    verb: 'POST',
    path: `/v2/users/${userIds[n % userIds.length]}/email`,
    body: JSON.stringify({ email: addressOf(n), sendCode: {} }),
  }),
}

// The notifier is held while the backlog grows, so it works on it as a process that runs for long.
async function drain({ services, pids }: System, lines: Line[], arrivals: Map<string, number>, first: number) {
  const { notifier } = services.handles
  await notifier.kill('SIGSTOP')
  let next = 0
  const drive = async (line: Line) => {
    while (next < backlog) await line.ask(first + next++)
  }
  await Promise.all(lines.map(drive))
  const measured = rateOf(Object.fromEntries(counted.map((name) => [name, pids[name]![0]!])))
  await notifier.kill('SIGCONT')
  const times = []
  for (let n = 0; n < backlog; n++) times.push(await arrivalOf(arrivals, first + n))
  return measured(times)
}

const counted = ['notifier', 'users', 'nats-server', 'postgres', 'redis']

function medianOf(rates: Rate[]): Rate {
  const processes = Object.keys(rates[0]!.cpu)
  return {
    rate: median(rates.map(({ rate }) => rate)),
    cpu: Object.fromEntries(processes.map((name) => [name, median(rates.map(({ cpu }) => cpu[name]!))])),
  }
}
