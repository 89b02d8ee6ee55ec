import { setTimeout as sleep } from 'node:timers/promises'
import postgres, { type TransactionSql } from 'postgres'
import { pause, processOf } from '../faults/inflict.ts'
import type { Line, Process } from '../faults/plan.ts'
import type { Running } from '../faults/running.ts'
import type { Traffic } from './traffic.ts'

/** A trouble that lasts until the function is called that `make` gives. */
export interface Trouble {
  name: string
  make(running: Running, traffic: Traffic): Promise<() => Promise<void> | void>
  /** The alerts that must fire, and no others. */
  alerts: string[]
}

const all = ['users', 'grants', 'idp', 'notifier', 'gateway']
const storing = ['users', 'grants', 'idp', 'notifier']
const unreachable = (services: string[], server: string) =>
  services.map((service) => `RosterServerUnreachable ${service} ${server}`)

export const troubles: Trouble[] = [
  ...(['users', 'grants', 'idp', 'notifier', 'gateway'] as const).map((name) =>
    paused(name, [`RosterServiceDown ${name}`]),
  ),
  paused('postgres', unreachable(storing, 'postgres')),
  paused('nats', unreachable(all, 'nats')),
  paused('redis', unreachable(['notifier'], 'redis')),
  killed('postgres', unreachable(storing, 'postgres')),
  killed('nats', unreachable(all, 'nats')),
  killed('redis', unreachable(['notifier'], 'redis')),
  broken('cut', 'users↔postgres', unreachable(['users'], 'postgres')),
  broken('stall', 'grants↔postgres', unreachable(['grants'], 'postgres')),
  broken('cut', 'gateway↔nats', unreachable(['gateway'], 'nats')),
  broken('stall', 'users↔nats', unreachable(['users'], 'nats')),
  broken('cut', 'notifier↔redis', unreachable(['notifier'], 'redis')),
  broken('cut', 'notifier↔smtp', ['RosterMailServer']),
  broken('stall', 'notifier↔smtp', ['RosterMailServer']),
  {
    name: 'kill -9 users, which its supervisor brings back',
    alerts: [],
    async make({ services }) {
      await services.handles.users.kill('SIGKILL')
      return () => {}
    },
  },
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
    name: 'a transaction that somebody left open in PostgreSQL',
    alerts: ['RosterEventsLate users', 'RosterEventsLate idp'],
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

function paused(victim: Process, alerts: string[]): Trouble {
  return {
    name: `pause ${victim}`,
    alerts,
    make: async (running) => pause(processOf(running, victim).pid),
  }
}

function killed(victim: 'postgres' | 'nats' | 'redis', alerts: string[]): Trouble {
  return {
    name: `kill -9 ${victim}`,
    alerts,
    async make({ servers }) {
      await servers[victim]!.kill('SIGKILL')
      return () => servers[victim]!.restart()
    },
  }
}

function broken(how: 'cut' | 'stall', line: Line, alerts: string[]): Trouble {
  return {
    name: `${how} ${line}`,
    alerts,
    async make({ cables }) {
      cables[line][how]()
      return () => cables[line].mend()
    },
  }
}

function locked(name: string, table: string, mode: string, alerts: string[]): Trouble {
  return { name, alerts, make: (running) => lock(running, table, mode) }
}

function lock(running: Running, table: string, mode: string) {
  return hold(running, (sql) => sql.unsafe(`lock table ${table} in ${mode} mode`))
}

/** Begins a transaction, and leaves it open. */
async function hold({ servers }: Running, begin: (sql: TransactionSql) => PromiseLike<unknown>) {
  const sql = postgres(servers.databaseUrl, { max: 1, onnotice: () => {} })
  const over = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const done = sql.begin(async (transaction) => {
    await begin(transaction)
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
