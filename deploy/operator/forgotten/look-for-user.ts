import type { Redis } from 'ioredis'
import { NatsError } from 'nats'
import type { Sql } from '#lib/eventstore/database'
import { sealedPart } from '#lib/eventstore/personal/sealed-rows'
import { personalFields } from '#lib/events/personal-fields'
import { streamName } from '#lib/events/stream'
import { subjectToken } from '#lib/events/subject'
import { queuePrefix } from '../../../services/notifier/redis.ts'
import { mailQueueName } from '../../../services/notifier/mails/mail-queue.ts'
import { placeOfNotifier, startOfStream } from '../status/look-at-forgettings.ts'
import { keptSamples } from '../../../services/users/forgetting/kept-samples.ts'
import { partTypes } from '../../../services/users/forgetting/parts.ts'
import { messageOf } from '../services.ts'
import type { System } from '../system.ts'

/**
 * What a store has of a user. `readable`: how much of it tells who the user is; with a key, also what is sealed. At
 * least 1 while a service may still have to clean the store.
 */
export interface Found {
  store: string
  rows: number
  readable: number
  /** Why it could not be looked at. What is there may then be readable. */
  problem?: string
}

/** Looks into every store. Undefined where there never was such a user. */
export async function lookForUser(system: System, userId: string): Promise<Found[] | undefined> {
  const events = await eventsOf(system, userId)
  if (events.rows === 0) return undefined
  const [users, redis] = [system.sql('users'), system.redis()]
  // A store that cannot be read may still hold the user, so it counts as not erased.
  const place = await placeOfNotifier(system).catch(() => undefined)
  const since = await startOfStream(system).catch(() => undefined)
  const work = await workBehind(users, userId, place, since)
  const rows = async (table: string, column = 'user_id'): Promise<Found> => {
    const [{ count }] = await users<[{ count: number }]>`
      select count(*)::int as count from ${users(table)} where ${users(column)} = ${userId}
    `
    return { store: table, rows: count, readable: count }
  }
  return [
    await rows('subject_keys', 'subject_id'),
    events,
    await statesOf(system, userId),
    await rows('unique_keys', 'aggregate_id'),
    ...(await Promise.all(tables.map((table) => rows(table)))),
    // PostgreSQL's samples of the tables of searches hold values in plain. Whose they are, they do not tell.
    until(work.statistics, {
      store: 'statistics',
      rows: 1,
      readable: (await keptSamples(users, 'roster_users')).length,
    }),
    until(work.stream, await attempt('stream', () => streamOf(system, userId))),
    until(work.deliveries, await attempt('deliveries', () => deliveriesOf(system, userId))),
    ...(redis ? [await attempt('redis', () => jobsOf(redis, userId))] : []),
  ]
}

// One that cannot be looked at must not hinder that the others are.
async function attempt(store: string, look: () => Promise<Found>): Promise<Found> {
  try {
    return await look()
  } catch (error) {
    return { store, rows: 0, readable: 1, problem: messageOf(error) }
  }
}

const tables = [
  'found_users',
  'found_addresses',
  'passwords',
  'tokens',
  'known_addresses',
  'failed_sign_ins',
  'unsent_mails',
  'unsent_email_codes',
]

async function eventsOf(system: System, userId: string): Promise<Found> {
  const rows = await system.sql('users')<{ of: string; type: string; payload: Record<string, unknown> }[]>`
    select aggregate_type as of, type, payload from events
    where aggregate_type = any(${partTypes}::text[]) and aggregate_id = ${userId}
  `
  const readable = rows.filter(({ of, type, payload }) => tells(of, type, payload)).length
  return { store: 'events', rows: rows.length, readable }
}

function tells(aggregateType: string, type: string, payload: Record<string, unknown> | undefined): boolean {
  return payload !== undefined && personalFields(aggregateType, type).some((name) => payload[name] !== undefined)
}

// A plain state of a user that is there no more has a single field. Of what belongs to a user, codes may have a link.
async function statesOf(system: System, userId: string): Promise<Found> {
  const rows = await system.sql('users')<{ type: string; state: Record<string, unknown> }[]>`
    select type, state from aggregates where type = any(${partTypes}::text[]) and id = ${userId}
  `
  const readable = rows.filter(({ type, state }) => stateTells(type, state)).length
  return { store: 'aggregates', rows: rows.length, readable }
}

function stateTells(type: string, state: Record<string, unknown>): boolean {
  if (sealedPart(state) !== undefined) return false
  return type === 'user' ? !state['removed'] || state['former'] !== undefined : state['urlTemplate'] !== undefined
}

interface Work {
  stream: boolean
  deliveries: boolean
  statistics: boolean
}

// Which stores were cleaned after the removal. Of a user who is not forgotten, none.
async function workBehind(
  sql: Sql,
  userId: string,
  place: Awaited<ReturnType<typeof placeOfNotifier>>,
  since: Date | undefined,
): Promise<Work> {
  const [work] = await sql<Work[]>`
    select stream_at is not null and (stream_generation is not distinct from generation or removed_at <= ${since ?? null}::timestamptz) as stream,
      statistics_at is not null as statistics,
      coalesce((
        select (transaction_id, position) <= (${place?.transactionId ?? '0'}::xid8, ${place?.position ?? '0'}) from events e
        where e.aggregate_type = 'user' and e.aggregate_id = f.user_id order by sequence desc limit 1
      ), false) as deliveries
    from forgettings f, published where user_id = ${userId} and forget_at is null
  `
  return work ?? { stream: false, deliveries: false, statistics: false }
}

function until(isDone: boolean, found: Found): Found {
  return isDone ? found : { ...found, readable: Math.max(found.readable, 1) }
}

async function streamOf(system: System, userId: string): Promise<Found> {
  const manager = await system.jetstream()
  const found = { store: 'stream', rows: 0, readable: 0 }
  for (const aggregate of partTypes) {
    const filter = `roster.events.users.*.${subjectToken(aggregate)}.${subjectToken(userId)}.>`
    const { state } = await manager.streams.info(streamName, { subjects_filter: filter })
    for (const [subject, count] of Object.entries(state.subjects ?? {})) {
      found.rows += count
      const type = subject.split('.').slice(6).join('.')
      const message = await manager.streams
        .getMessage(streamName, { last_by_subj: subject })
        .catch((error: unknown) => {
          if (error instanceof NatsError && error.code === '404') return undefined
          throw error
        })
      if (message && tellsUnlessRead(() => tells(aggregate, type, message.json()))) found.readable += count
    }
  }
  return found
}

async function deliveriesOf(system: System, userId: string): Promise<Found> {
  const rows = await system.sql('notifier')<{ aggregate: string; payload: string }[]>`
    select aggregate, payload from deliveries
    where kind = 'webhook' and aggregate = any(${partTypes.map((type) => `${type}/${userId}`)}::text[])
  `
  const readable = rows.filter(({ aggregate, payload }) => tellsUnlessRead(() => deliveryTells(aggregate, payload)))
  return { store: 'deliveries', rows: rows.length, readable: readable.length }
}

// What nobody can parse is there, and somebody may read it.
function tellsUnlessRead(tellsOf: () => boolean): boolean {
  try {
    return tellsOf()
  } catch {
    return true
  }
}

function deliveryTells(aggregate: string, payload: string): boolean {
  const { type, data } = JSON.parse(payload) as { type: string; data?: Record<string, unknown> }
  const aggregateType = aggregate.slice(0, aggregate.indexOf('/'))
  return tells(aggregateType, type.slice(`roster.${aggregateType}.`.length).replace(/\.v\d+$/, ''), data)
}

/** All that a job of a mail has, and nothing of it tells who a user is. */
const known = new Set('userId codeId kind organizationId expiresAt cause traceparent sentAt failure'.split(' '))

async function jobsOf(redis: Redis, userId: string): Promise<Found> {
  const found = { store: 'redis', rows: 0, readable: 0 }
  for await (const keys of redis.scanStream({ match: `${queuePrefix}:${mailQueueName}:*`, type: 'hash', count: 1000 }))
    for (const key of keys as string[]) {
      const data = await jobData(redis, key)
      // Of what nobody can parse, nobody knows whose it is.
      if (data && data['userId'] !== userId) continue
      found.rows++
      if (!data || !Object.keys(data).every((name) => known.has(name))) found.readable++
    }
  return found
}

async function jobData(redis: Redis, key: string): Promise<Record<string, unknown> | undefined> {
  const text = await redis.hget(key, 'data')
  try {
    const data: unknown = JSON.parse(text ?? '{}')
    return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
