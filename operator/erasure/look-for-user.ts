import type { Redis } from 'ioredis'
import { NatsError } from 'nats'
import { personalFields } from '#lib/events/marked-fields'
import { streamName } from '#lib/events/stream'
import { subjectToken } from '#lib/events/subject'
import { mailQueueName } from '../../services/notifier/mails/queue/mail-queue.ts'
import { queuePrefix } from '../../services/notifier/redis.ts'
import { keptSamples } from '../../services/users/directory/erasure/kept-samples.ts'
import { identifiesUser, partTypes, personalTables } from '../../services/users/directory/erasure/personal-data.ts'
import { messageOf } from '../services.ts'
import { openAttempts } from '../status/attempts.ts'
import { type Erasures, lookAtErasures } from '../status/look-at-erasures.ts'
import type { System } from '../system.ts'

/**
 * What a store has of a user. `readable`: how much of it identifies the user; with a key, also what is encrypted. At
 * least 1 while a service may still have to clean the store.
 */
export interface Found {
  store: string
  rows: number
  readable: number
  /** Why it could not be looked at. What is there may then be readable. */
  problem?: string
}

type Fields = Record<string, unknown>

/** Looks into every store. Undefined where there never was such a user. */
export async function lookForUser(system: System, userId: string): Promise<Found[] | undefined> {
  const [sql, redis] = [system.sql('users'), system.redis()]
  const events = await sql<{ of: string; type: string; payload: Fields }[]>`
    select aggregate_type as of, type, payload from events
    where aggregate_type = any(${partTypes}::text[]) and aggregate_id = ${userId}
  `
  if (events.length === 0) return undefined
  const states = await sql<{ type: string; state: Fields }[]>`
    select type, state from aggregates where type = any(${partTypes}::text[]) and id = ${userId}
  `
  const work = await workBehind(system, userId)
  const inTables = Object.entries(personalTables).map(async ([table, column]): Promise<Found> => {
    const { count } = await sql`select from ${sql(table)} where ${sql(column)} = ${userId}`
    return { store: table, rows: count, readable: count }
  })
  return [
    ...(await Promise.all(inTables)),
    foundIn('events', events, ({ of, type, payload }) => identifies(of, type, payload)),
    foundIn('aggregates', states, ({ type, state }) => identifiesUser(type, state)),
    // PostgreSQL's samples of the tables of searches hold values in plain. They do not say whose they are.
    until(
      work?.statistics,
      foundIn('statistics', await keptSamples(sql, 'roster_users'), () => true),
    ),
    until(work?.stream, await attempt('stream', () => streamOf(system, userId))),
    until(work?.deliveries, await attempt('deliveries', () => deliveriesOf(system, userId))),
    ...(redis ? [await attempt('redis', () => jobsOf(redis, userId))] : []),
  ]
}

// What is still to be cleaned after the removal. Undefined for a user who is not erased.
async function workBehind(system: System, userId: string): Promise<Erasures | undefined> {
  const { count } = await system.sql('users')`select from forgettings where user_id = ${userId} and forget_at is null`
  return count > 0 ? lookAtErasures(system, openAttempts(system), userId) : undefined
}

// A store that could not be asked may still hold the user.
function until(backlog: { waiting: number } | undefined, found: Found): Found {
  return backlog?.waiting === 0 ? found : { ...found, readable: Math.max(found.readable, 1) }
}

// One that cannot be looked at must not hinder that the others are.
async function attempt(store: string, look: () => Promise<Found>): Promise<Found> {
  try {
    return await look()
  } catch (error) {
    return { store, rows: 0, readable: 1, problem: messageOf(error) }
  }
}

function foundIn<Row>(store: string, rows: Row[], isReadable: (row: Row) => boolean): Found {
  return { store, rows: rows.length, readable: rows.filter((row) => isReadable(row)).length }
}

function identifies(aggregateType: string, type: string, payload: Fields | undefined): boolean {
  return payload !== undefined && personalFields(aggregateType, type).some((name) => payload[name] !== undefined)
}

async function streamOf(system: System, userId: string): Promise<Found> {
  const { streams } = await system.jetstream()
  const found = { store: 'stream', rows: 0, readable: 0 }
  for (const aggregate of partTypes) {
    const filter = `roster.events.users.*.${subjectToken(aggregate)}.${subjectToken(userId)}.>`
    const { state } = await streams.info(streamName, { subjects_filter: filter })
    for (const [subject, count] of Object.entries(state.subjects ?? {})) {
      found.rows += count
      const type = subject.split('.').slice(6).join('.')
      const message = await streams.getMessage(streamName, { last_by_subj: subject }).catch((error: unknown) => {
        if (error instanceof NatsError && error.code === '404') return undefined
        throw error
      })
      if (message && identifiesUnlessRead(() => identifies(aggregate, type, message.json()))) found.readable += count
    }
  }
  return found
}

async function deliveriesOf(system: System, userId: string): Promise<Found> {
  const rows = await system.sql('notifier')<{ aggregate: string; payload: string }[]>`
    select aggregate, payload from deliveries
    where kind = 'webhook' and aggregate = any(${partTypes.map((type) => `${type}/${userId}`)}::text[])
  `
  return foundIn('deliveries', rows, ({ aggregate, payload }) =>
    identifiesUnlessRead(() => {
      const { type, data } = JSON.parse(payload) as { type: string; data?: Fields }
      const of = aggregate.slice(0, aggregate.indexOf('/'))
      return identifies(of, type.slice(`roster.${of}.`.length).replace(/\.v\d+$/, ''), data)
    }),
  )
}

// What cannot be parsed is still there, so it counts as readable.
function identifiesUnlessRead(check: () => boolean): boolean {
  try {
    return check()
  } catch {
    return true
  }
}

/** All fields of a job of a mail. None of them identifies a user. */
const known = new Set('userId codeId kind organizationId expiresAt cause traceparent sentAt failure'.split(' '))

async function jobsOf(redis: Redis, userId: string): Promise<Found> {
  const jobs: Fields[] = []
  for await (const keys of redis.scanStream({ match: `${queuePrefix}:${mailQueueName}:*`, type: 'hash', count: 1000 }))
    for (const key of keys as string[]) jobs.push(readJob((await redis.hget(key, 'data')) ?? '{}', userId))
  const own = jobs.filter((job) => job['userId'] === userId)
  return foundIn('redis', own, (job) => Object.keys(job).some((name) => !known.has(name)))
}

// Of what cannot be parsed, it is unknown whose it is.
function readJob(text: string, userId: string): Fields {
  try {
    const job = JSON.parse(text) as Fields | null
    if (job !== null) return job
  } catch {}
  return { userId, text }
}
