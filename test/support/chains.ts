import { expect, vi } from 'vitest'
import { checkpointsAfter } from '#lib/audit-log/chain-rows'
import { readCheckpoint } from '#lib/audit-log/checkpoint'
import { startChain } from '#lib/audit-log/start-chain'
import type { Row } from 'postgres'
import type { Sql } from '#lib/database/database'
import type { RecentEvents } from '#lib/events/recent-events'
import { connectNats, type Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { keys, type Replica, silent } from './counters.ts'
import { counting, type Publishing, startPublishing } from './publishing.ts'

/** Two replicas of a service, with an outbox each, which may chain their events. */
export interface Chains {
  publishing: Publishing
  a: Replica
  b: Replica
  sql: Sql
  nats: Nats
  /** Statements of the chains so far. */
  asked(): number
  /** Begins to chain, by a replica. `recent`: what its outbox remembers, or `none`. `checkpointEvery`: milliseconds. */
  start(replica?: number, options?: { recent?: RecentEvents | 'none'; checkpointEvery?: number }): void
  /** Something that ends with the chains. */
  run(service: Service): void
  /** Ends the chains. */
  stop(): Promise<void>
  /** The row of the chain, and how many events and pages are stored. */
  state(): Promise<Row>
  everythingIsChained(): Promise<void>
  everythingIsSigned(): Promise<void>
  end(): Promise<void>
}

/** Opens them. Nothing is chained yet. */
export async function openChains(): Promise<Chains> {
  const publishing = await startPublishing()
  const [a, b] = publishing.replicas
  const { sql } = a
  const { natsUrl } = publishing.servers
  const connections = [
    await connectNats(natsUrl.users, 'users', silent),
    await connectNats(natsUrl.users, 'users', silent),
  ]
  let running: Service[] = []
  let asked = 0

  async function state() {
    const [row] = await sql`
      select c.epoch, c.reason, c.events::int, c.page::int, c.hash, (select count(*)::int from events) as stored,
        (select count(*)::int from audit_pages) as pages,
        (select coalesce(sum(octet_length(entries)), 0)::int / 40 from audit_pages) as entries
      from audit_chain c
    `
    return row!
  }

  return {
    publishing,
    a,
    b,
    sql,
    nats: connections[0]!,
    asked: () => asked,
    start(replica = 0, { recent = publishing.recent[replica], checkpointEvery = 0 } = {}) {
      const options = { service: 'users', nats: connections[replica]!, log: silent, keys, checkpointEvery }
      const counted = counting(publishing.replicas[replica]!.sql, () => asked++)
      running.push(startChain({ ...options, sql: counted, ...(recent !== 'none' && { recent: recent! }) }))
    },
    run: (service) => void running.push(service),
    async stop() {
      await Promise.all(running.map((one) => one.stop()))
      running = []
    },
    state,
    async everythingIsChained() {
      await vi.waitFor(
        async () => {
          const { stored, events, entries } = await state()
          expect({ events, entries }).toEqual({ events: stored, entries: stored })
        },
        { timeout: 20_000 },
      )
    },
    async everythingIsSigned() {
      await vi.waitFor(
        async () => {
          const [last] = await checkpointsAfter(sql, 0, 1000).then((rows) => rows.slice(-1))
          expect(last && readCheckpoint(last.jws).checkpoint.hash).toBe((await state())['hash'])
        },
        { timeout: 20_000 },
      )
    },
    async end() {
      await Promise.all(connections.map(({ connection }) => connection.close()))
      await publishing.stop()
    },
  }
}
