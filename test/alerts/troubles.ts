import { setTimeout as sleep } from 'node:timers/promises'
import postgres, { type TransactionSql } from 'postgres'
import { begin, pause, processOf } from '../faults/inflict.ts'
import { nameOf, singleFaults } from '../faults/plan.ts'
import type { Running } from '../faults/running.ts'
import { expectedOf } from './expected.ts'
import type { Traffic } from './traffic.ts'

/** A trouble that lasts until the function is called that `make` gives. */
export interface Trouble {
  name: string
  make(running: Running, traffic: Traffic): Promise<() => Promise<void> | void>
  /** The alerts that must fire, and no others. */
  alerts: string[]
}

export const troubles: Trouble[] = [
  ...singleFaults.map((fault): Trouble => ({
    name: nameOf([fault]),
    alerts: expectedOf(fault),
    make: (running) => begin(running, fault),
  })),
  {
    name: 'cut users↔postgres for a second',
    alerts: [],
    async make({ cables }) {
      cables['users↔postgres'].cut()
      await sleep(1000)
      cables['users↔postgres'].mend()
      return () => {}
    },
  },
  locked('a lock against writes on the events of users', 'roster_users.events', 'share row exclusive', [
    'RosterStoreStuck users',
  ]),
  {
    name: 'a lock on the tokens of users, and many callers with unknown tokens',
    alerts: ['RosterPoolFull users'],
    async make(running, traffic) {
      const free = await lock(running, 'roster_users.tokens', 'access exclusive')
      const end = traffic.identify()
      return async () => {
        end()
        await free()
      }
    },
  },
  {
    name: 'an idle transaction in PostgreSQL',
    alerts: ['RosterTransactionOpen'],
    make: (running) => hold(running, (sql) => sql`select pg_current_xact_id()`),
  },
  // A lock that gives its transaction no number: that would hold up the tail, too.
  locked('a lock on the pages of the audit chain of users', 'roster_users.audit_pages', 'share', [
    'RosterAuditLate users',
  ]),
  {
    name: 'an event that JetStream refused',
    alerts: ['RosterEventsParked users tail'],
    async make(running) {
      await administer(running, "insert into roster_users.parked_events (position, reason) values (1, 'too large')")
      return () => administer(running, 'delete from roster_users.parked_events')
    },
  },
  {
    name: 'a database of users that is older than the stream',
    alerts: ['RosterDatabaseOlderThanStream users'],
    async make(running) {
      await administer(running, `update roster_users.published set ahead = '{"from": 1, "to": 2}'`)
      return () => administer(running, 'update roster_users.published set ahead = null')
    },
  },
  {
    name: 'a table of idp that somebody renamed',
    alerts: ['RosterInternalErrors idp'],
    async make(running) {
      await administer(running, 'alter table roster_idp.aggregates rename to lost')
      return () => administer(running, 'alter table roster_idp.lost rename to aggregates')
    },
  },
  {
    name: 'a machine that gives idp a tenth of its time',
    alerts: ['RosterEventLoopBlocked idp'],
    async make(running) {
      const over = new AbortController()
      const starve = async () => {
        while (!over.signal.aborted) {
          const go = pause(processOf(running, 'idp').pid)
          await sleep(750)
          go()
          await sleep(75)
        }
      }
      const starved = starve()
      return async () => {
        over.abort()
        await starved
      }
    },
  },
]

function locked(name: string, table: string, mode: string, alerts: string[]): Trouble {
  return { name, alerts, make: (running) => lock(running, table, mode) }
}

function lock(running: Running, table: string, mode: string) {
  return hold(running, (sql) => sql.unsafe(`lock table ${table} in ${mode} mode`))
}

/** Begins a transaction, and leaves it open. */
async function hold({ servers }: Running, start: (sql: TransactionSql) => PromiseLike<unknown>) {
  const sql = postgres(servers.databaseUrl, { max: 1, onnotice: () => {} })
  const over = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const done = sql.begin(async (transaction) => {
    await start(transaction)
    begun.resolve()
    await over.promise
  })
  await Promise.race([begun.promise, done])
  return async () => {
    over.resolve()
    await done
    await sql.end()
  }
}

async function administer({ servers }: Running, statement: string): Promise<void> {
  const sql = postgres(servers.databaseUrl, { max: 1, onnotice: () => {} })
  await sql.unsafe(statement)
  await sql.end()
}
