// `npm run bench -- --only Bytes`: what a request and a user leave behind in PostgreSQL, in its WAL, and in the stream.
import postgres from 'postgres'
import { openCheck } from '../check.ts'
import { openClient } from '../load/client.ts'
import { startGenerator } from '../load/generator.ts'
import { addFamilies } from '../load/people.ts'
import { addClients } from '../load/tokens.ts'
import { addHumans } from '../load/users.ts'
import type { Options } from '../options.ts'
import { saveResults } from '../save-results.ts'
import { fill } from '../scale/fill.ts'
import { sum } from '../speed/measure.ts'
import { startSystem } from '../system.ts'
import { addedBetween, type Added, look } from './look.ts'

const requests = ['SetEmail', 'AddMachineUser', 'Token', 'CodeFlow', 'Refresh'] as const

/** What one of each leaves behind. */
export interface Left {
  requests: Record<string, Added>
  /** A user with three grants, among so many. */
  user: Added & { number: number }
}

/** Measures, and prints tables. `beside`: measures that checkout instead. */
export async function measureBytes(options: Options): Promise<string[]> {
  const generator = startGenerator()
  const system = await startSystem({ root: options.beside, settings: { PERSON_TOKEN_LIFETIME: '86400' } })
  const sql = postgres(system.servers.databaseUrl, { max: 1, onnotice: () => {} })
  const check = openCheck(system.servers)
  const client = openClient(system)
  /** What the work of `number` adds, for each of them. Without a checkpoint in between, a page is written whole once. */
  const added = async (work: () => Promise<number>) => {
    await check.settled()
    const before = await look(sql, system)
    await sql`checkpoint`
    const [row] = await sql<[{ place: string }]>`select pg_current_wal_insert_lsn()::text as place`
    const number = await work()
    await check.settled()
    return addedBetween(sql, { ...before, ...row }, await look(sql, system), number)
  }
  try {
    await sql`create extension if not exists pg_walinspect`
    const userIds = await addHumans(system, options.users)
    const clients = await addClients(system, options.users)
    const families = await addFamilies(system, userIds)
    let round = 0
    const run = async (workload: (typeof requests)[number], seconds: number) => {
      const subjects = { userIds, clients, families, round: round++ }
      const { urls, token } = system
      const { connections } = options
      const load = { workload, encoding: 'json', urls, token, subjects, connections, warmUp: 0, seconds } as const
      const { acknowledged, errors } = await generator.run(load)
      if (errors.length > 0) throw new Error(`${workload}: ${errors[0]}`)
      return acknowledged
    }
    const left: Left['requests'] = {}
    for (const workload of requests) {
      await run(workload, 2)
      left[workload] = await added(() => run(workload, options.seconds))
      print(workload, left[workload])
    }
    const number = options.objects
    const user = await added(async () => {
      await fill(client, number, console.log)
      return number
    })
    print(`a user with three grants, of ${number}`, user)
    if (options.save) saveResults('bytes', { requests: left, user: { ...user, number } } satisfies Left)
    return []
  } finally {
    generator.stop()
    client.close()
    await check.close()
    await sql.end()
    await system.stop()
  }
}

function print(name: string, { tables, wal, records, stream, rows }: Added): void {
  const line = (part: string, size: number, more = '') =>
    console.log(`${part.padEnd(42)} ${size.toFixed(0).padStart(6)} ${more}`)
  console.log(`\n${name}: bytes`)
  line('tables', sum(Object.values(tables)))
  for (const [table, size] of Object.entries(tables))
    line(`  ${table}`, size, rows[table] === undefined ? '' : `${rows[table].toFixed(2)} rows`)
  line('WAL', wal)
  for (const [kind, size] of Object.entries(records)) if (size >= 1) line(`  ${kind}`, size)
  line('stream', stream)
}
