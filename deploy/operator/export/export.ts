import { loadAggregates } from '#lib/eventstore/aggregate'
import type { Sql } from '#lib/eventstore/database'
import { eventColumns } from '#lib/eventstore/event-page'
import { sealedPart } from '#lib/eventstore/personal/sealed-rows'
import type { StoredEvent } from '#lib/events/stored-event'
import { storingServices, type StoringService } from '../provision.ts'
import type { Called, Command } from './command.ts'
import { openProver } from './verify/audit/export/prove-events.ts'
import { Refusal } from './refusal.ts'
import type { System } from './system.ts'

/** The command `export`. */
export const exportOrganization: Command = {
  name: 'export',
  takes: 'ORGANIZATION',
  summary: 'Writes all that belongs to an organization as JSON, a value on each line.',
  more: [
    'First comes a line of the kind `export`, then the events and objects of each service, and last one of the kind `end`.',
    'An export without that last line is not whole.',
    'It has no secret: no password, token, key, secret of a machine, provider or webhook. It has personal data.',
  ],
  options: { proof: { type: 'boolean' } },
  optionLines: ['--proof         adds proofs, which verify --audit --export reads; leaves out what is not signed yet'],
  arguments: [1, 1],
  run,
}

const pageSize = 500

async function run({ system, output, args, options }: Called): Promise<number> {
  const organization = args[0]!
  const known = await Promise.all(storingServices.map((service) => hasEvents(system.sql(service), organization)))
  if (!known.includes(true)) throw new Refusal(`There is no organization ${JSON.stringify(organization)}.`)
  await output.json({ kind: 'export', format: 1, organization, at: new Date() })
  const counted = { events: 0, objects: 0 }
  for (const service of storingServices)
    for await (const { proofs, events, objects } of pages(system, service, organization, options['proof'] === true)) {
      for (const value of [...proofs, ...events, ...objects]) await output.json(value)
      counted.events += events.length
      counted.objects += objects.length
      output.progress(`${service}: ${counted.events} events, ${counted.objects} objects`)
    }
  await output.json({ kind: 'end', ...counted })
  return 0
}

async function hasEvents(sql: Sql, organization: string): Promise<boolean> {
  return (await sql`select from events where organization_id = ${organization} limit 1`).count > 0
}

type Page = Record<'proofs' | 'events' | 'objects', object[]>

// Every event is in it that was committed before. So the end is not the oldest open transaction, which may be anybody's.
// Of transactions that were under way, some events may be in it: each of them with all earlier ones of its object.
// An object is written after its first event, as it is at that moment. With proofs, only what is signed is in it.
async function* pages(
  system: System,
  service: StoringService,
  organization: string,
  proves: boolean,
): AsyncGenerator<Page> {
  const [sql, personal] = [system.sql(service), await system.personal(service)]
  const prover = proves ? await openProver(sql, service) : undefined
  if (proves && !prover) return
  const [{ end }] = await sql<[{ end: string }]>`select pg_snapshot_xmax(pg_current_snapshot())::text as end`
  for (let last = { transaction_id: '0', position: '0' }; ;) {
    const stored = await sql<StoredEvent[]>`
      select ${eventColumns(sql)} from events
      where organization_id = ${organization} and transaction_id < ${end}::xid8
        ${prover ? sql`and (transaction_id, position) <= (${prover.end.transactionId}::xid8, ${prover.end.position}::bigint)` : sql``}
        and (transaction_id, position) > (${last.transaction_id}::xid8, ${last.position})
      order by events.transaction_id, events.position limit ${pageSize}
    `
    if (stored.length === 0) return
    const events = personal ? await personal.openEvents(sql, stored) : stored
    const first = events.filter(({ sequence }) => sequence === '1')
    const objects = await loadAggregates(
      sql,
      first.map((event) => ({ type: event.aggregate_type, id: event.aggregate_id })),
      personal,
    )
    yield {
      proofs: (await prover?.lines(stored)) ?? [],
      events: events.map((event, index) => ({
        kind: 'event',
        service,
        ...told(event),
        ...sealedOf(stored[index]!),
        ...(prover && { proof: prover.proofOf(stored[index]!) }),
      })),
      objects: objects
        .filter(({ state, unreadable }) => state !== undefined || unreadable)
        .map(({ unreadable, ...object }) => ({
          kind: 'object',
          service,
          ...object,
          ...(unreadable && { unreadable: true }),
        })),
    }
    last = events.at(-1)!
  }
}

// With it, the event is proven as it is stored, also where nobody opens it.
function sealedOf({ payload }: StoredEvent): { sealed?: string } {
  const sealed = sealedPart(payload)
  return sealed === undefined ? {} : { sealed }
}

function told(event: StoredEvent) {
  const { aggregate_type, aggregate_id, organization_id, request_id, created_at, transaction_id: _, ...rest } = event
  return {
    ...rest,
    aggregateType: aggregate_type,
    aggregateId: aggregate_id,
    organizationId: organization_id,
    requestId: request_id,
    createdAt: created_at,
  }
}
