// `npm run bench -- --only Replicas`.
import { startBareChain } from '../bare-chain/start.ts'
import { startGenerator } from '../load/generator.ts'
import { addHumans } from '../load/users.ts'
import { chains, type WorkloadName } from '../load/workloads.ts'
import { openCheck } from '../check.ts'
import type { Options } from '../options.ts'
import { saveResults } from '../save-results.ts'
import { median, type Measured, measure, sum } from '../speed/measure.ts'
import { table } from '../speed/report.ts'
import { startSystem } from '../system.ts'

/** The most CPU time per request, as a multiple of that of one replica. */
const mostCost = 1.1

/**
 * Measures the CPU time of a request with one, two and four processes of users and of the gateway. Each process gets
 * as many connections and users as a single one. The bare and the echo chain, with as many processes, show how much of
 * that the machine costs, whose processors they share. Returns the costs of Roster that are too high.
 */
export async function compareReplicas(options: Options): Promise<string[]> {
  const rows = await alternate([1, 2, 4], options, (replicas) =>
    (['SetEmail', 'bare', 'GetUser', 'Echo'] as const).map((workload) => ({
      name: chains[workload] ?? workload,
      workload,
      users: options.users * replicas,
      connections: options.connections * replicas,
    })),
  )
  const costOf = ({ rounds }: Row) => median(rounds.map(({ cpu }) => sum(Object.values(cpu))))
  const ratioOf = (row: Row) =>
    costOf(row) / costOf(rows.find(({ name, replicas }) => name === row.name && replicas === 1)!)
  print(['CPU µs/request', 'of one'], rows, (row) => [costOf(row).toFixed(0), ratioOf(row).toFixed(2)])
  save(options, rows)
  return rows
    .filter((row) => !isChain(row) && ratioOf(row) > mostCost)
    .map((row) => `${row.name}: ${row.replicas} replicas cost ${ratioOf(row).toFixed(2)} of one`)
}

const isChain = ({ workload }: Load) => workload in chains

interface Load {
  name: string
  workload: WorkloadName
  users: number
  connections: number
}

interface Row extends Load {
  replicas: number
  rounds: Measured[]
}

// All systems run at the same time, so that each round of one stands beside a round of the others.
async function alternate(counts: number[], options: Options, loadsOf: (replicas: number) => Load[]): Promise<Row[]> {
  const generator = startGenerator()
  const begun: { stop(): Promise<void> | void }[] = [generator]
  try {
    const sides = []
    for (const replicas of counts) {
      const system = await startSystem({ replicas })
      const check = openCheck(system.servers)
      const bare = await startBareChain(system.servers, replicas)
      begun.push(system, bare, { stop: () => check.close() })
      const userIds = await addHumans(system, options.users * replicas)
      sides.push({
        system,
        bare,
        check,
        userIds,
        rows: loadsOf(replicas).map((load): Row => ({ ...load, replicas, rounds: [] })),
      })
    }
    console.log('Warming up ...')
    let number = 0
    for (let round = 0; round <= options.rounds; round++) {
      for (const [at] of sides[0]!.rows.entries()) {
        for (const { system, bare, check, userIds, rows } of round % 2 === 0 ? sides : sides.toReversed()) {
          const { workload, users, connections, rounds, name, replicas } = rows[at]!
          const subjects = { userIds: userIds.slice(0, users), clients: [], round: number++ }
          const urls = isChain(rows[at]!) ? bare.urls : system.urls
          const pids = { ...system.pids, ...bare.pids }
          const { token } = system
          const { seconds } = options
          const load = { workload, encoding: 'json', urls, token, subjects, connections, warmUp: 0.5, seconds } as const
          const measured = await measure(load, generator, pids, () => check.settled())
          if (measured.errors.length > 0) throw new Error(`${name}, ${replicas} replicas: ${measured.errors[0]}`)
          // The first round warms up.
          if (round === 0) continue
          rounds.push(measured)
          console.log(`  round ${round}: ${name}, ${replicas} replicas: ${measured.rate.toFixed(0)}/s`)
        }
      }
    }
    return sides.flatMap(({ rows }) => rows)
  } finally {
    for (const part of begun.toReversed()) await part.stop()
  }
}

function print(titles: string[], rows: Row[], more: (row: Row) => string[]): void {
  const of = ({ rounds }: Row, value: (round: Measured) => number) => median(rounds.map(value))
  const lines = rows.map((row) => [
    `${row.name}, ${row.replicas} × users and gateway`,
    of(row, ({ rate }) => rate).toFixed(0),
    of(row, ({ p50 }) => p50).toFixed(1),
    of(row, ({ p99 }) => p99).toFixed(1),
    ...more(row),
  ])
  console.log(`\n${table([['', 'req/s', 'p50 ms', 'p99 ms', ...titles], ...lines])}`)
}

function save(options: Options, rows: Row[]): void {
  if (!options.save) return
  const medians = rows.map(({ name, replicas, rounds }) => ({
    name,
    replicas,
    rate: median(rounds.map(({ rate }) => rate)),
    cpu: median(rounds.map(({ cpu }) => sum(Object.values(cpu)))),
  }))
  saveResults('replicas', { rows: medians })
}
