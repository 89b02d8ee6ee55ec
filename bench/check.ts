import { connect } from 'nats'
import postgres, { type Sql } from 'postgres'
import { setTimeout as sleep } from 'node:timers/promises'
import { storingServices } from '../deploy/provision.ts'
import type { Servers } from '../deploy/local/servers.ts'

/** Numbers of stored changes, to compare with the acknowledged ones. */
export interface Stored {
  SetEmail: number
  AddMachineUser: number
  Token: number
}

export interface Check {
  stored(): Promise<Stored>
  /** Waits until every event is published, because that work belongs to the price of a round. */
  settled(): Promise<void>
  /** Waits until PostgreSQL has statistics of all tables, as it has a minute after any change. */
  analyzed(): Promise<void>
  /** The faults of the store and the stream. The list should be empty. */
  problems(): Promise<string[]>
  /** The number of events in a transaction of the users service, on average. */
  eventsPerTransaction(): Promise<number>
  version(): Promise<string>
  close(): Promise<void>
}

/** Inspects the servers from outside, as their administrator. */
export function openCheck({ databaseUrl, natsUrl }: Servers): Check {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  return {
    async stored() {
      const [row] = await sql<[{ set_email: string; add_machine: string; token: string }]>`
        select
          (select count(*) from roster_users.events where type = 'email.changed') as set_email,
          (select count(*) from roster_users.events where type = 'machine.added') as add_machine,
          (select count(*) from roster_users.events where type = 'token.issued') as token
      `
      return {
        SetEmail: Number(row.set_email),
        AddMachineUser: Number(row.add_machine),
        Token: Number(row.token),
      }
    },
    async settled() {
      while (await isBehind(sql)) await sleep(10)
    },
    async analyzed() {
      while (await hasOldStatistics(sql)) await sleep(500)
    },
    async problems() {
      const [broken] = await sql<[{ count: string }]>`
        select count(*) from roster_users.aggregates a
        full join (
          select aggregate_type as type, aggregate_id as id, count(*) as events, max(sequence) as last
          from roster_users.events group by 1, 2
        ) e using (type, id)
        where e.events is distinct from a.sequence or e.last is distinct from a.sequence
      `
      const problems = broken.count === '0' ? [] : [`${broken.count} aggregates differ from their events`]
      const events = await countEvents(sql)
      const published = await countPublished(natsUrl.admin)
      if (events !== published) problems.push(`${events} events are stored, but ${published} are in the stream`)
      return problems
    },
    async eventsPerTransaction() {
      const [row] = await sql<[{ average: string }]>`
        select count(*)::numeric / count(distinct transaction_id) as average from roster_users.events
      `
      return Number(row.average)
    },
    async version() {
      const [row] = await sql<[{ server_version: string }]>`show server_version`
      return row.server_version
    },
    close: () => sql.end(),
  }
}

async function isBehind(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ behind: boolean }]>`
    select coalesce((
      select (transaction_id, position) > (select transaction_id, position from roster_users.published)
      from roster_users.events order by transaction_id desc, position desc limit 1
    ), false) as behind
  `
  return row.behind
}

// As autovacuum decides it.
async function hasOldStatistics(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ old: boolean }]>`
    select exists (
      select from pg_stat_user_tables join pg_class c on c.oid = relid
      where schemaname like 'roster%' and n_mod_since_analyze > 50 + 0.1 * greatest(reltuples, 0)
    ) as old
  `
  return row.old
}

async function countEvents(sql: Sql): Promise<number> {
  const counts = storingServices.map(async (service) => {
    const [row] = await sql<[{ count: string }]>`select count(*) from ${sql(`roster_${service}`)}.events`
    return Number(row.count)
  })
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
}

async function countPublished(url: string): Promise<number> {
  const { host, username, password } = new URL(url)
  const nats = await connect({ servers: host, user: username, pass: password })
  // Checkpoints of the audit chains are in the stream, too.
  const subjects_filter = 'roster.events.*.roster.audit.*.checkpoint.signed'
  const { state } = await (await nats.jetstreamManager()).streams.info('roster-events', { subjects_filter })
  await nats.close()
  return Object.values(state.subjects ?? {}).reduce((rest, checkpoints) => rest - checkpoints, state.messages)
}
