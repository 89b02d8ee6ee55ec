import { connect, type JetStreamManager, NatsError, type StoredMsg } from 'nats'
import { checkpointType } from '#lib/audit-log/publish-checkpoint'
import { driverOptions } from '#lib/database/database-url'
import { natsServers } from '#lib/nats/connect-nats'
import postgres, { type Sql } from 'postgres'
import { setTimeout as sleep } from 'node:timers/promises'
import { storingServices } from '../../deploy/provision.ts'
import type { Servers } from '../../deploy/local/servers.ts'
import { compare, type Seen, type Stored } from './compare.ts'
import { type Doomed, findLeft, findReadable, findUncaused, type Erased } from './doomed.ts'
import type { Remembered } from './load.ts'

const settledWithin = 60_000
/** Messages that are read at the same time. */
const atOnce = 200

/** Inspects the servers from outside, past every service. Each check gives its faults. */
export interface Inspection {
  /** Checks the writes of a round: each acknowledged one is stored once, each other one at most once. */
  writes(writes: Remembered[], prefix: string): Promise<string[]>
  sequences(): Promise<string[]>
  /** Every event, each service's in order of position. */
  stored(): Promise<Stored[]>
  /** Reads the stream from its start. */
  stream(): Promise<string[]>
  /** What is left of a removed organization and of a removed role. */
  left(doomed: Doomed): Promise<string[]>
  /** Where somebody can still read who was removed. */
  readable(erased: Erased): Promise<string[]>
  /** What went with them, and does not name its cause. */
  uncaused(doomed: Doomed): Promise<string[]>
  /** Humans who should have been mailed a code that is still valid. */
  awaited(): Promise<{ userId: string; email: string }[]>
  close(): Promise<void>
}

export function openInspection({ databaseUrl, natsUrl }: Servers): Inspection {
  const { url, ...options } = driverOptions(databaseUrl)
  const sql = postgres(url, { ...options, target_session_attrs: 'read-write', max: 1, onnotice: () => {} })
  return {
    async writes(writes, prefix) {
      const events = (await readEvents(sql)).filter(({ requestId }) => requestId.startsWith(prefix))
      const made = Map.groupBy(events, ({ requestId }) => requestId.slice(0, requestId.lastIndexOf('.')))
      return writes.flatMap((write) => wrongWith(write, made.get(write.id) ?? []))
    },
    async sequences() {
      const broken = storingServices.map(async (service) => {
        const rows = await sql<{ type: string; id: string }[]>`
          select type, id from ${sql(`roster_${service}`)}.aggregates a
          full join (
            select aggregate_type as type, aggregate_id as id, count(*) as events, min(sequence) as first, max(sequence) as last
            from ${sql(`roster_${service}`)}.events group by 1, 2
          ) e using (type, id)
          where (e.events, e.last, e.first) is distinct from (a.sequence, a.sequence, 1::bigint)
        `
        return rows.map(({ type, id }) => `${service} ${type} ${id}: its row differs from its events`)
      })
      return (await Promise.all(broken)).flat()
    },
    stored: () => readEvents(sql),
    async stream() {
      const before = await readEvents(sql)
      for (const end = Date.now() + settledWithin; await isBehind(sql); await sleep(50))
        if (Date.now() > end) return ['events are still not published']
      const published = await readStream(natsUrl.admin)
      const after = await readEvents(sql)
      const erased = erasedIn(after)
      const others = <Event extends { id: string }>(events: Event[]) => events.filter(({ id }) => !erased.has(id))
      const wrong = compare('in the stream', others(before), others(published), others(after))
      return wrong.map(({ sentence }) => sentence)
    },
    left: (doomed) => findLeft(sql, doomed),
    readable: (erased) => findReadable(sql, (those) => streamedOf(natsUrl.admin, those), erased),
    uncaused: (doomed) => findUncaused(sql, doomed),
    awaited: () => sql`
      select user_id as "userId", email from roster_users.found_addresses
      where 'email.code.requested' = (
        select type from roster_users.events
        where aggregate_type = 'user' and aggregate_id = user_id and type = any(${aboutCodes})
        order by sequence desc limit 1
      )
    `,
    close: () => sql.end(),
  }
}

/** The last of these says whether a code is to be mailed. */
const aboutCodes = ['email.code.requested', 'email.code.returned', 'email.changed', 'email.verified']

/** The events of removed users that leave the stream: all but the removal. */
function erasedIn(events: Stored[]): Set<string> {
  const isEnd = ({ aggregate, type }: Stored) => aggregate.startsWith('user ') && type === 'removed'
  const removed = new Set(events.filter(isEnd).map(({ aggregateId }) => aggregateId))
  const leaves = (event: Stored) =>
    event.id.startsWith('users-') &&
    /^user[ .]/.test(event.aggregate) &&
    removed.has(event.aggregateId) &&
    !isEnd(event)
  return new Set(events.filter(leaves).map(({ id }) => id))
}

// The subjects of users' events, but for the removals.
async function streamedOf(url: string, { organizationId, userId = '*' }: Erased): Promise<string[]> {
  const connection = await connect(natsServers(url))
  try {
    const filter = `roster.events.users.${organizationId}.user.${userId}.>`
    const manager = await connection.jetstreamManager()
    const { state } = await manager.streams.info('roster-events', { subjects_filter: filter })
    return Object.keys(state.subjects ?? {}).filter((subject) => !subject.endsWith('.removed'))
  } finally {
    await connection.close()
  }
}

function wrongWith(write: Remembered, events: Stored[]): string[] {
  const name = `${write.id} (${write.operation})`
  const found = `${name} made ${events.map(({ requestId, type }) => `${requestId} ${type}`).join(', ') || 'nothing'}`
  if (events.length === 0) return write.answer === undefined ? [] : [`${name} was acknowledged and is lost`]
  const isWhole = JSON.stringify(events.map(({ type }) => type)) === JSON.stringify(write.events)
  const isOne = new Set(events.map(({ aggregate, requestId }) => `${aggregate} ${requestId}`)).size === 1
  if (!isWhole || !isOne) return [found]
  if (write.answer === undefined) return []
  const { details, userId, userGrantId } = write.answer
  const objectId = userGrantId ?? userId ?? write.request['idpId'] ?? write.request['userId']
  const last = events.at(-1)!
  if (last.aggregateId !== objectId || last.sequence !== Number(details.sequence))
    return [`${found}, but answered ${objectId} ${details.sequence}`]
  return []
}

async function readEvents(sql: Sql): Promise<Stored[]> {
  const read = storingServices.map(
    (service) => sql<Stored[]>`
      select ${service} || '-' || position as id, type, aggregate_type || ' ' || aggregate_id as aggregate,
        aggregate_id as "aggregateId", sequence::int, request_id as "requestId",
        (extract(epoch from created_at) * 1000)::float as "storedAt"
      from ${sql(`roster_${service}`)}.events order by position
    `,
  )
  return (await Promise.all(read)).flat()
}

async function isBehind(sql: Sql): Promise<boolean> {
  const behind = storingServices.map(async (service) => {
    const schema = sql(`roster_${service}`)
    const [row] = await sql<[{ behind: boolean }]>`
      select exists (
        select from ${schema}.events
        where (transaction_id, position) > (select transaction_id, position from ${schema}.published)
      ) as behind
    `
    return row.behind
  })
  return (await Promise.all(behind)).includes(true)
}

/** Looks for a message that the server does not list as deleted. */
const looks = 5

// nats-server 2.9 also answers 404 where a block of the file leaves its cache during the read.
async function readMessage(manager: JetStreamManager, seq: number): Promise<StoredMsg | undefined> {
  for (let look = 1; ; look++)
    try {
      return await manager.streams.getMessage('roster-events', { seq })
    } catch (error) {
      if (!(error instanceof NatsError && error.code === '404')) throw error
      if (look === looks) return undefined
    }
}

// The events that a new consumer sees from the start of the stream.
async function readStream(url: string): Promise<Seen[]> {
  const connection = await connect(natsServers(url))
  try {
    const manager = await connection.jetstreamManager()
    const { state } = await manager.streams.info('roster-events', { deleted_details: true })
    const deleted = new Set(state.deleted)
    // One by one: a consumer of nats-server 2.9 at times ends early where messages leave the stream meanwhile.
    const read = async (seq: number) => {
      if (deleted.has(seq)) return []
      const message = await readMessage(manager, seq)
      // Checkpoints of the audit chains are no events of the log.
      if (!message || message.header.get('ce-type') === checkpointType) return []
      return [{ id: message.header.get('ce-id') || 'without an id' }]
    }
    const seen: Seen[] = []
    for (let first = state.first_seq; first <= state.last_seq; first += atOnce) {
      const count = Math.min(atOnce, state.last_seq - first + 1)
      seen.push(...(await Promise.all(Array.from({ length: count }, (_, index) => read(first + index)))).flat())
    }
    return seen
  } finally {
    await connection.close()
  }
}
