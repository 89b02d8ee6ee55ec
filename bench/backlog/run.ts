// `npm run bench -- --only Backlog`: how many events a second the outbox of users publishes, when many wait.
import postgres from 'postgres'
import { openCheck } from '../check.ts'
import { cpuTime } from '../cpu.ts'
import { openClient } from '../load/client.ts'
import type { Options } from '../options.ts'
import { saveResults } from '../save-results.ts'
import { median } from '../speed/measure.ts'
import { startSystem } from '../system.ts'

const backlog = 60_000
const most = 1000
/** The advisory lock of the outbox: the replica that holds it publishes. */
const lock = 7_265_002

export interface Backlog {
  events: number
  /** Events a second, of each round. */
  rates: number[]
  /** CPU µs of an event, by process. */
  cpu: Record<string, number>
}

/** Lets events wait, and then times the outbox. Returns the goal that was missed. */
export async function measureBacklog({ rounds, beside, save }: Options): Promise<string[]> {
  const system = await startSystem({ root: beside })
  const client = openClient(system)
  const sql = postgres(system.servers.databaseUrl, { max: 1, onnotice: () => {} })
  const check = openCheck(system.servers)
  try {
    const rates: number[] = []
    const cpus: Record<string, number>[] = []
    for (let round = 0; round <= rounds; round++) {
      await sql`select pg_advisory_lock(hashtextextended('roster_users', ${lock}))`
      for (let at = 0; at < backlog; at += most) {
        const users = Array.from({ length: most }, (_, n) => ({
          machine: { userName: `m-${round}-${at + n}`, name: 'A machine' },
        }))
        await client.ask('POST', '/v2/users/_bulk', { users })
      }
      const waiting = await sql<[{ count: number }]>`
        select count(*)::float8 as count from roster_users.events e, roster_users.published p
        where (e.transaction_id, e.position) > (p.transaction_id, p.position)
      `
      const before = cpuOf(system.pids)
      const began = performance.now()
      await sql`select pg_advisory_unlock(hashtextextended('roster_users', ${lock}))`
      await check.settled()
      const seconds = (performance.now() - began) / 1000
      const { count } = waiting[0]
      const cpu = Object.fromEntries(
        Object.entries(cpuOf(system.pids)).map(([name, time]) => [name, (time - before[name]!) / count]),
      )
      // The first round warms up.
      if (round === 0) continue
      rates.push(count / seconds)
      cpus.push(cpu)
      console.log(`  round ${round}: ${count} events, ${(count / seconds).toFixed(0)}/s`)
    }
    const cpu = Object.fromEntries(
      Object.keys(cpus[0]!).map((name) => [name, median(cpus.map((each) => each[name]!))] as const),
    )
    console.log(`\n${median(rates).toFixed(0)} events/s; CPU µs of an event:`)
    for (const [name, time] of Object.entries(cpu)) console.log(`  ${name.padEnd(12)} ${time.toFixed(1).padStart(6)}`)
    if (save) saveResults('backlog', { events: backlog, rates, cpu } satisfies Backlog)
    return await check.problems()
  } finally {
    client.close()
    await check.close()
    await sql.end()
    await system.stop()
  }
}

function cpuOf(pids: Record<string, number[]>): Record<string, number> {
  return Object.fromEntries(Object.entries(pids).map(([name, [pid]]) => [name, cpuTime(pid!)]))
}
