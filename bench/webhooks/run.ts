// `npm run bench -- --only Webhooks [--beside FOLDER]`: what PostgreSQL spends where one webhook gets every event of an
// import, by statement. Prints a table.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { openCheck } from '../check.ts'
import { cpuTime } from '../cpu.ts'
import { openClient } from '../load/client.ts'
import { addHumans } from '../load/users.ts'
import type { Options } from '../options.ts'
import { withStatistics } from '../statistics.ts'
import { startSystem, type System } from '../system.ts'

const humans = 10_000

/** What a statement is for, by a text of its own. */
const parts: [name: string, text: string][] = [
  ['import: append', 'append('],
  ['take in', 'take_in('],
  ['take chains', 'take_chains('],
  ['take chains', 'take_batches('],
  ['settle', 'settle_try('],
  ['settle', 'with given as'],
  ['end of a chain', 'delete from chains'],
  ['give back', "set taken_by = ''"],
]

interface Spent {
  events: number
  imported: number
  drained: number
  /** CPU seconds. */
  postgres: number
  notifier: number
  /** Seconds of execution, and calls. */
  statements: Map<string, { seconds: number; calls: number }>
  /** `unused`: pages that the next entries fill. */
  indexes: { name: string; pages: number; unused: number; density: number }[]
}

/** Prints what each code spends, one after the other in one run. */
export async function measureWebhooks({ beside }: Options): Promise<string[]> {
  const problems: string[] = []
  for (const root of beside ? [undefined, beside] : [undefined]) {
    const system = await startSystem({
      root,
      settings: { WEBHOOK_ALLOW_PRIVATE: '127.0.0.1', LOG_LEVEL: 'error' },
    })
    try {
      print(root ?? 'this code', await measureOne(system))
      const check = openCheck(system.servers)
      problems.push(...(await check.problems()))
      await check.close()
    } finally {
      await system.stop()
    }
  }
  return problems
}

async function measureOne(system: System): Promise<Spent> {
  const received = new Set<string>()
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      received.add(String(request.headers['webhook-id']))
      response.end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sql = await withStatistics(system)
  await sql`create extension pgstattuple`
  const client = openClient(system)
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    await client.ask('POST', '/management/v1/webhooks', { url, allOrganizations: true })
    await sql`select pg_stat_statements_reset()`
    const cpu = () => [cpuTime(system.pids['postgres']![0]!), cpuTime(system.pids['notifier']![0]!)] as const
    const [postgresBefore, notifierBefore] = cpu()
    const began = performance.now()
    await addHumans(system, humans)
    const imported = (performance.now() - began) / 1000
    await drained(sql)
    const spent = (performance.now() - began) / 1000
    const [postgresAfter, notifierAfter] = cpu()
    return {
      events: received.size,
      imported,
      drained: spent,
      postgres: (postgresAfter - postgresBefore) / 1e6,
      notifier: (notifierAfter - notifierBefore) / 1e6,
      statements: await readStatements(sql),
      indexes: await readIndexes(sql),
    }
  } finally {
    client.close()
    server.close()
    server.closeAllConnections()
    await sql.end()
  }
}

async function drained(sql: Sql): Promise<void> {
  for (let quiet = 0; quiet < 20; await sleep(100)) {
    const [row] = await sql<[{ behind: boolean; waits: boolean }]>`
      select (select max(position) from roster_users.events) >
          (select position from roster_notifier.cursors where service = 'users') as behind,
        exists (select from roster_notifier.chains) as waits
    `
    quiet = row.behind || row.waits ? 0 : quiet + 1
  }
}

async function readStatements(sql: Sql): Promise<Spent['statements']> {
  const rows = await sql<{ query: string; seconds: number; calls: number }[]>`
    select query, total_exec_time / 1000 as seconds, calls::int from pg_stat_statements
    where userid <> (select oid from pg_roles where rolname = current_user)
  `
  const statements: Spent['statements'] = new Map()
  for (const { query, seconds, calls } of rows) {
    const name = parts.find(([, text]) => query.includes(text))?.[0] ?? 'others'
    const sum = statements.get(name) ?? { seconds: 0, calls: 0 }
    statements.set(name, { seconds: sum.seconds + seconds, calls: sum.calls + calls })
  }
  return statements
}

async function readIndexes(sql: Sql): Promise<Spent['indexes']> {
  await sql`vacuum roster_notifier.chains, roster_notifier.places, roster_notifier.deliveries`
  return sql`
    select indexrelid::regclass::text as name, (pg_relation_size(indexrelid) / 8192)::int as pages,
      (deleted_pages + empty_pages)::int as unused, avg_leaf_density as density
    from pg_index, pgstatindex(indexrelid::regclass) where indrelid in (
      'roster_notifier.chains'::regclass, 'roster_notifier.places'::regclass, 'roster_notifier.deliveries'::regclass
    ) order by 1
  `
}

function print(name: string, { events, imported, drained, postgres, notifier, statements, indexes }: Spent): void {
  console.log(`\n${name}: ${events} events of ${humans} users`)
  console.log(`  imported after ${imported.toFixed(1)} s, delivered after ${drained.toFixed(1)} s`)
  console.log(`  CPU s: PostgreSQL ${postgres.toFixed(1)}, notifier ${notifier.toFixed(1)}`)
  console.log('\n| statements | calls | seconds in PostgreSQL | µs each |\n|---|---:|---:|---:|')
  for (const [part, { calls, seconds }] of [...statements].toSorted(([, a], [, b]) => b.seconds - a.seconds))
    console.log(`| ${part} | ${calls} | ${seconds.toFixed(1)} | ${((seconds / calls) * 1e6).toFixed(0)} |`)
  console.log('\n| index | pages | of these free | density of the others |\n|---|---:|---:|---:|')
  for (const { name: index, pages, unused, density } of indexes)
    console.log(`| ${index} | ${pages} | ${unused} | ${density} |`)
}
