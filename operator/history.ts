import type { StoredMsg } from 'nats'
import type { Sql } from '#lib/database/database'
import { checkpointType } from '#lib/audit-log/publish-checkpoint'
import { plainType } from '#lib/events/event-type'
import { streamName } from '#lib/events/stream'
import type { Ahead } from '#lib/outbox/outbox-rows'
import { storingServices, type StoringService } from '../deploy/provision.ts'
import type { Called, Command } from './command.ts'
import { table } from './output.ts'
import { eachService, readServices } from './services.ts'
import type { System } from './system.ts'
import { takings } from './removals/takings.ts'
import { readMessages } from './stream-pages.ts'

/** The commands about events that a restored database lacks. */
export const historyCommands: Command[] = [
  {
    name: 'history show',
    takes: '[SERVICE…]',
    summary: 'Lists the events of the stream that the database lacks, because it was restored.',
    more: ['Exit status 1 where there is one.'],
    arguments: [0, storingServices.length],
    run: show,
  },
  {
    name: 'history reconcile',
    takes: '[SERVICE…]',
    summary: 'Removes these events from the stream, and tells the organizations that lost them.',
    more: [
      'Each of these organizations gets an event roster.history.truncated.v1, in the stream, the API and its webhooks.',
      'The audit chain begins a new epoch. No other message is touched, so consumers of the stream go on.',
      'Call it again if it was ended: it goes on.',
    ],
    arguments: [0, storingServices.length],
    mayWrite: true,
    run: reconcile,
  },
]

/** A message of the stream that the database lacks. */
interface Lost {
  sequence: number
  id: string
  type: string
  organizationId: string
  /** Its aggregate, such as `user/1`. Empty for a checkpoint. */
  object: string
  subject: string
  time: string
  /** Tells a checkpoint from another one of its number, which the restored database has made since. */
  jws: string
}

const pageSize = 500

async function show({ system, output, args }: Called): Promise<number> {
  let number = 0
  const isWhole = await eachService(readServices(args), output, async (service) => {
    const found = await readLost(system, service)
    number += found.length
    if (output.isJson) for (const one of found) await output.json({ service, ...one })
    else if (found.length > 0) {
      const rows = found.map(({ id, type, object, organizationId, time }) => [id, type, object, organizationId, time])
      for (const line of table(['EVENT', 'TYPE', 'OBJECT', 'ORGANIZATION', 'TIME'], rows)) output.line(line)
    }
  })
  if (number === 0 && isWhole && !output.isJson) output.line('The stream has no event that the database lacks.')
  if (!isWhole) return 2
  return number > 0 ? 1 : 0
}

async function reconcile({ system, output, args, confirm }: Called): Promise<number> {
  const services = readServices(args)
  const lost = new Map<StoringService, Lost[]>()
  const isRead = await eachService(services, output, async (service) => {
    if (await readAhead(system.sql(service))) lost.set(service, await readLost(system, service))
  })
  if (!isRead) return 2
  const all = [...lost.values()].flat()
  const removals = all.filter(({ type }) => takings[plainType(type)] !== undefined).length
  const question = [
    `${all.length} messages go from the stream. No database has their events, unless you still have a newer one.`,
    ...(removals > 0
      ? [`${removals} of them took something away: "removals repeat" does so again, but only before this.`]
      : []),
  ]
  if (all.length > 0) await confirm(question.join(' '))
  const isDone = await eachService(lost.keys(), output, async (service) => {
    const sql = system.sql(service)
    const found = lost.get(service)!
    const events = found.filter(({ jws }) => jws === '')
    const organizations = [...new Set(events.map(({ organizationId }) => organizationId))].filter(Boolean)
    // First: whoever ends the command in between can call it again, and all are told.
    await sql`select announce_truncation(${service}, ${organizations})`
    const { streams } = await system.jetstream()
    for (const { sequence } of found) await streams.deleteMessage(streamName, sequence)
    await sql`update published set ahead = null`
    if (output.isJson) await output.json({ service, removed: found.length, organizations })
    else output.line(`${service}: ${found.length} messages removed, ${organizations.length} organizations told`)
  })
  if (isDone && lost.size === 0 && !output.isJson) output.line('The stream has no event that the database lacks.')
  return isDone ? 0 : 2
}

async function readAhead(sql: Sql): Promise<Ahead | null> {
  const [{ ahead }] = await sql<[{ ahead: Ahead | null }]>`select ahead from published`
  return ahead
}

async function readLost(system: System, service: StoringService): Promise<Lost[]> {
  const sql = system.sql(service)
  const ahead = await readAhead(sql)
  if (!ahead) return []
  const manager = await system.jetstream()
  const { state } = await manager.streams.info(streamName)
  const lost: Lost[] = []
  for (let from = Math.max(ahead.from + 1, state.first_seq); from <= ahead.to; from += pageSize) {
    const messages = await readMessages(manager, from, Math.min(ahead.to, from + pageSize - 1))
    const own = messages.filter(({ subject }) => subject.startsWith(`roster.events.${service}.`)).map(describe)
    const stored = await readStored(sql, service, own)
    lost.push(...own.filter(({ id, jws }) => !stored.has(id + jws)))
  }
  return lost
}

function describe(message: StoredMsg): Lost {
  const { seq, subject, header, time } = message
  const read = (name: string) => header.get(`ce-${name}`)
  const jws = read('type') === checkpointType ? (message.json<{ jws?: string }>().jws ?? '') : ''
  return {
    sequence: seq,
    id: read('id'),
    type: read('type'),
    object: read('subject'),
    organizationId: read('organization'),
    subject,
    time: time.toISOString(),
    jws,
  }
}

/** The ids of these events and checkpoints that the database has, a checkpoint's with its signature. */
async function readStored(sql: Sql, service: string, messages: Lost[]): Promise<Set<string>> {
  const numbers = (prefix: string) =>
    messages.flatMap(({ id }) => new RegExp(`^${prefix}(\\d{1,16})$`).exec(id)?.[1] ?? [])
  const rows = await sql<{ id: string }[]>`
    select ${service} || '-' || position as id from events
    where position = any(${numbers(`${service}-`)}::bigint[])
    union all
    select ${service} || '-checkpoint-' || number || jws from audit_checkpoints
    where number = any(${numbers(`${service}-checkpoint-`)}::bigint[])
  `
  return new Set(rows.map(({ id }) => id))
}
