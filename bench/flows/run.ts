// What each request that a person waits for takes, one at a time and without load, and what users asks of PostgreSQL for it.
import type { Sql } from 'postgres'
import { addFamilies, type Family } from '../load/people.ts'
import { addHumans } from '../load/users.ts'
import { workloads } from '../load/workloads.ts'
import type { Options } from '../options.ts'
import { withStatistics } from '../statistics.ts'
import { startSystem, type System } from '../system.ts'

const flows = ['SilentFlow', 'RefreshOpenID', 'Password'] as const
/** Runs of a flow that are measured, and those before them: V8 still compiles. */
const [measured, unmeasured] = [200, 100]

interface Step {
  name: string
  times: number[]
}

/** Measures this checkout, and another one where it is wanted. There is no target that it could miss. */
export async function measureFlows({ beside }: Options): Promise<string[]> {
  await measureOne(undefined)
  if (beside !== undefined) {
    console.log(`\nBeside: ${beside}`)
    await measureOne(beside)
  }
  return []
}

async function measureOne(root: string | undefined): Promise<void> {
  const system = await startSystem({ root })
  try {
    const sql = await withStatistics(system)
    const families = await addFamilies(system, await addHumans(system, 20))
    for (const flow of flows) {
      await run(system, families, flow, unmeasured)
      await sql`select pg_stat_statements_reset()`
      const [before] = await events(sql)
      const steps = await run(system, families, flow, measured)
      const [after] = await events(sql)
      const statements = await readStatements(sql)
      const sum = (of: (row: Statement) => number) => statements.reduce((total, row) => total + of(row), 0)
      console.log(
        `\n${flow}: ${sum(({ calls }) => calls).toFixed(1)} statements, ${sum(({ ms }) => ms).toFixed(2)} ms in PostgreSQL, ` +
          `${((after!.count - before!.count) / measured).toFixed(1)} events`,
      )
      for (const { name, times } of steps)
        console.log(`  ${name.padEnd(28)}${of(times, 0.5)} ms p50  ${of(times, 0.99)} ms p99`)
      for (const { calls, ms, query } of statements)
        if (calls >= 0.3) console.log(`    ${calls.toFixed(1).padStart(5)} ×  ${ms.toFixed(2)} ms  ${query}`)
    }
    await commitDelay(sql, system, families)
    await sql.end()
  } finally {
    await system.stop()
  }
}

// PostgreSQL waits so long for other commits where enough are under way.
async function commitDelay(sql: Sql, system: System, families: Family[]): Promise<void> {
  await sql`alter system set commit_delay = 5000`
  await sql`select pg_reload_conf()`
  console.log('\nWith commit_delay = 5000')
  for (const flow of flows)
    for (const { name, times } of await run(system, families, flow, measured))
      console.log(`  ${flow.padEnd(16)}${name.padEnd(28)}${of(times, 0.5)} ms p50  ${of(times, 0.99)} ms p99`)
}

async function run(system: System, families: Family[], flow: (typeof flows)[number], count: number): Promise<Step[]> {
  const url = `http://localhost:${new URL(system.urls[0]!).port}`
  const steps = new Map<string, Step>()
  for (let n = 0; n < count; n++) {
    let asked = workloads[flow].http({ userIds: [], clients: [], families, round: 0 }, n)
    for (let at = 1; ; at++) {
      const { verb, path, headers } = asked
      const body = asked.body as string
      const began = performance.now()
      const response = await fetch(url + path, {
        method: verb,
        redirect: 'manual',
        ...(headers && { headers }),
        ...(body && { body }),
      })
      const text = await response.text()
      const time = performance.now() - began
      if (response.status >= 400) throw new Error(`${verb} ${path}: ${text}`)
      const name = `${at}. ${verb} ${path.split('?')[0]!.replace(/login\/.*/, 'login/…')}`
      const step = steps.get(name) ?? { name, times: [] }
      steps.set(name, step)
      step.times.push(time)
      const cookie = response.headers.getSetCookie()[0]?.split(';')[0]
      const answer = { location: response.headers.get('location') ?? '', body: text, cookie }
      const next = asked.take?.(answer)
      if (!next) break
      asked = next
    }
  }
  return [...steps.values()]
}

function of(times: number[], part: number): string {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.floor((times.length - 1) * part)]!.toFixed(1).padStart(6)
}

function events(sql: Sql): Promise<{ count: number }[]> {
  return sql`select count(*)::int as count from roster_users.events`
}

interface Statement {
  calls: number
  ms: number
  query: string
}

// What other replicas do meanwhile is among it, where it is asked for as often.
async function readStatements(sql: Sql): Promise<Statement[]> {
  const rows = await sql<Statement[]>`
    select calls::float / ${measured} as calls, total_exec_time / ${measured} as ms,
      left(regexp_replace(query, '\\s+', ' ', 'g'), 100) as query
    from pg_stat_statements s join pg_roles r on r.oid = s.userid
    where r.rolname like '%users%' and calls >= ${measured / 4} and toplevel
    order by calls desc
  `
  return [...rows]
}
