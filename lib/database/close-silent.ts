import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import type { Service } from '../process.ts'
import { repeat } from '../repeat.ts'
import { askOrClose, closeUnheard } from './close-unheard.ts'
import { connectionOptions, type Sql } from './database.ts'

/** Milliseconds after which a server without an answer counts as silent. */
const patience = 5000
/** Answers that were only late may come within so many milliseconds, once a server answers again. */
const grace = 1000

/**
 * Closes connections of these pools whose server has gone without a word, as one that lost its power or its network
 * does, once another server answers. TCP alone would notice it after a quarter of an hour, and until then a statement
 * waits on each of them. A connection of its own asks PostgreSQL every `every` milliseconds.
 */
export function closeSilent({ url, service, pools, ask, every = 2000 }: SilenceOptions): Service {
  const { url: first, ...options } = connectionOptions(url, service)
  const sql = postgres(first, { ...options, max: 1, onnotice: () => {} })
  let silentSince: number | undefined
  const asking = repeat({
    async work() {
      try {
        await askOrClose(sql, patience, () => ask(sql))
      } catch (error) {
        silentSince ??= performance.now()
        throw error
      }
      if (silentSince === undefined) return
      await sleep(grace)
      for (const pool of pools) closeUnheard(pool, silentSince)
      silentSince = undefined
    },
    every,
    retryAfter: 250,
    // Others report that the database is away.
    failed: () => {},
  })
  return {
    async stop() {
      const stopped = asking.stop()
      await sql.end({ timeout: 0 })
      await stopped
    },
  }
}

export interface SilenceOptions {
  url: string
  service: string
  pools: Sql[]
  /** What it asks: something that PostgreSQL answers at once. */
  ask: (sql: Sql) => PromiseLike<unknown>
  every?: number
}
