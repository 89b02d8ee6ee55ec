import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase, type Sql } from '#lib/eventstore/database'
import { migrate } from '#lib/eventstore/migrate'
import { keepAnswers } from '#lib/eventstore/once'
import { createStore } from '#lib/eventstore/store'
import { startTail } from '#lib/eventstore/tail'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats'
import type { Service } from '#lib/process'
import { serve } from '#lib/rpc/serve'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { throttled } from './redis.ts'

const retryAfter = 1000

export interface StoringOptions {
  config: Config
  nats: Nats
  log: Log
}

/**
 * Starts the part of the notifier that keeps data of its own: brings its schema up to date, and answers. It waits for its
 * database as long as it takes, and no mail waits for it.
 */
export function startStoring(options: StoringOptions): Service {
  const sql = openDatabase(options.config.DATABASE_URL, 'notifier', options.log)
  const stopped = new AbortController()
  const failed = throttled(options.log, 'the notifier waits for its database')

  let isMigrated = false

  async function begin(): Promise<Service | undefined> {
    while (!isMigrated && !stopped.signal.aborted) {
      try {
        await migrate(sql, new URL('./migrations/', import.meta.url))
        isMigrated = true
      } catch (error) {
        if (!stopped.signal.aborted) failed(error as Error)
        await sleep(retryAfter, undefined, { signal: stopped.signal }).catch(() => {})
      }
    }
    return isMigrated ? startAnswering(sql, options) : undefined
  }

  const begun = begin()
  return {
    async stop() {
      stopped.abort()
      // Whoever still waits for the database need not.
      if (!isMigrated) await sql.end({ timeout: 0 })
      await (await begun)?.stop()
      await sql.end()
    },
  }
}

async function startAnswering(sql: Sql, { config, nats, log }: StoringOptions): Promise<Service> {
  const tail = startTail({ service: 'notifier', sql, nats, log })
  const answers = keepAnswers(sql, config.ROSTER_ENCRYPTION_KEY, log)
  const store = createStore(sql, { evolve: {} }, log, tail.committed, answers)
  const context: Context = { config, sql, store, keys: config.ROSTER_ENCRYPTION_KEY, log }
  const answering = await serve({ name: 'notifier', nats, log, context, answers, services: [] })
  return {
    async stop() {
      await answering.stop()
      answers.stop()
      await tail.stop()
    },
  }
}
