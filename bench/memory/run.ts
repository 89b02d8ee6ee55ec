// Measures how soon Roster is ready, and how much memory its services take.
import { setTimeout as sleep } from 'node:timers/promises'
import { startGenerator } from '../load/generator.ts'
import { addHumans } from '../load/users.ts'
import type { Options } from '../options.ts'
import { saveResults } from '../save-results.ts'
import { startSystem, type System } from '../system.ts'
import { type Memory, memoryOf } from '../memory-of.ts'
import { timeStarts } from './starts.ts'

const services = ['users', 'grants', 'idp', 'notifier', 'gateway']
/** Milliseconds without calls, after which a system counts as idle. */
const idleAfter = 10_000

type Table = Record<string, Memory>

/** Prints seconds to ready, and memory without calls and under load. Returns the faults that it found. */
export async function measureMemory(options: Options): Promise<string[]> {
  const starts = await timeStarts()
  console.log(`\nready after ${starts.cold.toFixed(1)} s without data, ${starts.warm.toFixed(1)} s with data\n`)
  const system = await startSystem()
  const generator = startGenerator()
  try {
    const userIds = await addHumans(system, options.users)
    await sleep(idleAfter)
    const idle = read(system)
    print('idle', idle)
    const busy: Table = {}
    const watch = setInterval(() => keepHighest(busy, read(system)), 250)
    for (const [round, workload] of (['SetEmail', 'GetUser'] as const).entries()) {
      const subjects = { userIds, clients: [], round }
      const { urls, token } = system
      const { connections, seconds } = options
      const asked = { workload, encoding: 'json', urls, token, subjects, connections, warmUp: 0, seconds } as const
      const { errors } = await generator.run(asked)
      if (errors.length > 0) throw new Error(`${workload}: ${errors[0]}`)
    }
    clearInterval(watch)
    print(`highest under ${options.connections} connections`, busy)
    if (options.save) saveResults('memory', { starts, idle, busy })
    return []
  } finally {
    generator.stop()
    await system.stop()
  }
}

function read({ pids }: System): Table {
  return Object.fromEntries(services.map((name) => [name, memoryOf(pids[name]![0]!)]))
}

function keepHighest(table: Table, now: Table): void {
  for (const [name, { rss, pss }] of Object.entries(now)) {
    const before = table[name] ?? { rss: 0, pss: 0 }
    table[name] = { rss: Math.max(rss, before.rss), pss: Math.max(pss, before.pss) }
  }
}

function print(title: string, table: Table): void {
  const sum = (kind: keyof Memory) => Object.values(table).reduce((all, memory) => all + memory[kind], 0)
  const rows = [...Object.entries(table), ['together', { rss: sum('rss'), pss: sum('pss') }] as const]
  console.log(`${title.padEnd(32)}RSS   PSS   (MB)`)
  for (const [name, { rss, pss }] of rows)
    console.log(`  ${name.padEnd(28)}${rss.toFixed(0).padStart(5)} ${pss.toFixed(0).padStart(5)}`)
  console.log('')
}
