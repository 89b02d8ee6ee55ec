import type { Sql } from '#lib/database/database'
import type { Log } from '#lib/log'
import type { Service } from '#lib/process'
import { pause, repeat } from '#lib/repeat'
import { throttled } from '#lib/throttled'
import { keptSamples } from './kept-samples.ts'

/** Milliseconds between two looks. */
const lookEvery = 3_000
/** After sampling it waits for so many times as long: that of large tables takes seconds. */
const restFactor = 20
const portion = 10_000

/**
 * Has PostgreSQL sample the tables of searches again after removals. Its statistics hold names and addresses in plain,
 * and otherwise those of removed users might stay for months.
 */
export function startErasureInStatistics({ sql, log, every = lookEvery }: Options): Service {
  return repeat({
    work: (stopped) => eraseInStatistics(sql, stopped),
    every,
    retryAfter: every,
    failed: throttled(log, 'the statistics of the tables of searches are not made anew'),
  })
}

interface Options {
  sql: Sql
  log: Log
  every?: number
}

// What a statement before the sampling sees as removed, the sample lacks.
async function eraseInStatistics(sql: Sql, stopped: AbortSignal): Promise<'more' | undefined> {
  const rows = await sql<{ id: string }[]>`
    select user_id as id from forgettings where statistics_at is null and forget_at is null
    order by user_id limit ${portion}
  `
  if (rows.length === 0) return undefined
  const began = performance.now()
  await sql`analyze found_users, found_addresses`
  const took = performance.now() - began
  const [{ schema }] = await sql<[{ schema: string }]>`select current_schema() as schema`
  const kept = await keptSamples(sql, schema)
  if (kept.length > 0) throw new Error(`PostgreSQL keeps old samples: the statistics target is 0 of ${kept.join(', ')}`)
  await sql`update forgettings set statistics_at = roster_now() where user_id = any(${rows.map(({ id }) => id)}::text[])`
  await pause(took * restFactor, stopped)
  return rows.length === portion ? 'more' : undefined
}
