import { limitReached } from '#lib/errors'
import { type AggregateKey, keyText } from '#lib/eventstore/aggregate'
import type { Sql } from '#lib/eventstore/database'
import { eventColumns } from '#lib/eventstore/feed-rows'
import type { StoredEvent } from '#lib/events/stored-event'
import { type Asker, inTurn } from '#lib/search/in-turn'
import { evolve } from '../vocabulary/evolve.ts'
import { happenedBy, type Until } from './until.ts'

/** What happened to an object up to a moment. */
export interface History<State> {
  id: string
  organizationId: string
  /** Its events, the oldest first, each with the state behind it. */
  steps: { event: StoredEvent; state: State }[]
  /** Undefined where the object did not exist yet. */
  state: State | undefined
}

/** Gives the history of one of the objects that were read. */
export type Histories = <State>(type: string, id: string) => History<State>

const mostEvents = 5000

/**
 * Reads the events of objects up to a moment, and folds them as the service does. Of projects it reads the one role
 * alone. RESOURCE_EXHAUSTED LIMIT_REACHED for more than 5,000 events; errors of `inTurn`.
 */
export async function readHistories(
  sql: Sql,
  asker: Asker,
  { keys, roleKey = '', until }: { keys: AggregateKey[]; roleKey?: string; until: Until | undefined },
): Promise<Histories> {
  const unique = [...new Map(keys.map((key) => [keyText(key), key])).values()]
  const events = await inTurn(
    sql,
    asker,
    sql<StoredEvent[]>`
      select ${eventColumns(sql)}
      from unnest(${unique.map(({ type }) => type)}::text[], ${unique.map(({ id }) => id)}::text[]) wanted (kind, id)
      cross join lateral (
        select * from events e
        where e.aggregate_type = wanted.kind and e.aggregate_id = wanted.id and ${happenedBy(sql, until)}
          and (e.type <> all(${names}) or e.aggregate_type not in ('organization', 'project'))
          and (e.type not like 'role.%' or e.payload ->> 'roleKey' = ${roleKey})
        order by e.sequence limit ${mostEvents + 1}
      ) events
      order by aggregate_type, aggregate_id, events.sequence
      limit ${mostEvents + 1}
    `,
  )
  if (events.length > mostEvents) throw limitReached('explain.events', mostEvents, 'There are too many events.')
  const grouped = Map.groupBy(events, ({ aggregate_type: type, aggregate_id: id }) => keyText({ type, id }))
  return <State>(type: string, id: string) => fold<State>(id, grouped.get(keyText({ type, id })) ?? [])
}

/** Events that change nothing but names. */
const names = ['changed', 'domain.changed']

function fold<State>(id: string, events: StoredEvent[]): History<State> {
  const steps: History<State>['steps'] = []
  for (const event of events) {
    const next = evolve[event.aggregate_type as keyof typeof evolve] as (before: unknown, event: unknown) => unknown
    steps.push({ event, state: next(steps.at(-1)?.state, event) as State })
  }
  return { id, organizationId: events[0]?.organization_id ?? '', steps, state: steps.at(-1)?.state }
}
