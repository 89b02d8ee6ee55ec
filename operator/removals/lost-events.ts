import type { PublishedEvent } from '#lib/events/cloud-event'
import { messageOf } from '#lib/events/messages'
import { plainType } from '#lib/events/event-type'
import { checkpointType } from '#lib/audit-log/publish-checkpoint'
import { storingServices, type StoringService } from '../../deploy/provision.ts'
import { eventIn, type StreamPage, streamPages } from '../stream-pages.ts'
import type { System } from '../system.ts'
import { givenBackBy, type Taking, takings } from './takings.ts'

/** What the stream knows and the database lacks. */
export interface Lost {
  /** What must be taken away again, in its order. */
  takings: Taking[]
  /** The number of all other events, by their type. */
  others: Map<string, number>
  /** Events of any kind that the database lacks. */
  count: number
}

type LostEvent = Omit<PublishedEvent, 'data'> & { service: StoringService; data: Taking['data'] }

/** Compares the whole stream with a database that was restored from before its end. */
export async function readLost(system: System, report: (progress: string) => void): Promise<Lost> {
  const lost: LostEvent[] = []
  for await (const page of streamPages(system)) {
    for (const service of storingServices) lost.push(...(await lostOf(system, service, page)))
    report(`message ${page.looked} of ${page.of}`)
  }
  const last = new Map(lost.map(({ aggregateId, type }, index) => [`${type} ${aggregateId}`, index]))
  const isGivenBack = ({ type, aggregateId }: LostEvent, index: number) =>
    (last.get(`${givenBackBy[type]} ${aggregateId}`) ?? -1) > index
  const taken = lost.filter((event, index) => isTaking(event) && !isGivenBack(event, index))
  const others = new Map<string, number>()
  for (const { type } of lost.filter(({ type, causationId }) => takings[type] === undefined && causationId === ''))
    others.set(type, (others.get(type) ?? 0) + 1)
  return {
    takings: (await Promise.all(taken.map((event) => withState(system, event)))).flat(),
    others,
    count: lost.length,
  }
}

async function lostOf(system: System, service: StoringService, { messages }: StreamPage): Promise<LostEvent[]> {
  const own = messages.filter(({ subject }) => subject.startsWith(`roster.events.${service}.`))
  const events = own.flatMap((message) => {
    const event = eventIn(message)
    return event && event.type !== checkpointType ? [event] : []
  })
  const position = ({ id }: PublishedEvent) => new RegExp(`^${service}-(\\d{1,16})$`).exec(id)?.[1] ?? '0'
  const rows = await system.sql(service)<{ place: string }[]>`
    select concat_ws(' ', position, aggregate_type, aggregate_id, sequence) as place from events
    where position = any(${events.map(position)}::bigint[])
  `
  const known = new Set(rows.map(({ place }) => place))
  const placeOf = (event: PublishedEvent) =>
    [position(event), event.aggregateType, event.aggregateId, event.sequence].join(' ')
  return events
    .filter((event) => !known.has(placeOf(event)))
    .map((event) => ({ ...event, service, type: plainType(event.type), data: event.data as Taking['data'] }))
}

// What follows from another event comes again with it. Not so an erasure, whose time may be over by now. A service can
// publish any type below its own subjects: one that was captured must not have the objects of another service removed.
function isTaking({ type, causationId, service }: LostEvent): boolean {
  return takings[type] !== undefined && isOf(service, type) && (causationId === '' || type === 'user.forgotten')
}

function isOf(service: StoringService, type: string): boolean {
  const [aggregate, ...rest] = type.split('.')
  return messageOf(aggregate!, rest.join('.')).desc.file.name === `roster/events/v1/${service}`
}

// What was added after the backup is in the database no more.
async function withState(system: System, { service, ...event }: LostEvent): Promise<Taking[]> {
  const [row] = await system.sql(service)<Pick<Taking, 'state'>[]>`
    select state from aggregates where type = ${event.aggregateType} and id = ${event.aggregateId}
  `
  const { type, aggregateId: id, organizationId, data } = event
  return row ? [{ type, id, organizationId, data, state: row.state }] : []
}
