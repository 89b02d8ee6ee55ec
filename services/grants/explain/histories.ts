import { type AggregateKey, keyText } from '#lib/eventstore/aggregate'
import type { Fragment, Sql } from '#lib/database/database'
import { eventColumns } from '#lib/eventstore/event-page'
import type { StoredEvent } from '#lib/events/stored-event'
import { type Asker, runQueued } from '#lib/search/search-queue'
import { evolve } from '../vocabulary/evolve.ts'
import { organizationEffects } from '../vocabulary/organization.ts'
import { projectGrantEffects } from '../vocabulary/project-grant.ts'
import { projectEffects } from '../vocabulary/project.ts'
import { userGrantEffects } from '../vocabulary/user-grant.ts'
import { happenedBy, type Until } from './until.ts'

/** What happened to an object up to a moment. */
export interface History<State> {
  id: string
  organizationId: string
  /** The state before the steps. Undefined where they are all there is. */
  before: State | undefined
  /** Its newest events, the oldest of them first, each with the state behind it. */
  steps: { event: StoredEvent; state: State }[]
  /** Undefined where the object did not exist yet. */
  state: State | undefined
}

/** The states that are known of a history, the oldest first. */
export function statesOf<State>({ before, steps }: History<State>): State[] {
  return [...(before === undefined ? [] : [before]), ...steps.map(({ state }) => state)]
}

/** Returns the history of one of the objects that were read. */
export type Histories = <State>(type: string, id: string) => History<State>

// Each object has a share of its own. So changes by others of one object never stand in the way of another.
const newest = 50

/**
 * Reads the newest events of objects up to a moment, and folds them as the service does. Of earlier events it reads
 * those that the state takes. Of projects it reads the one role alone. Errors of `runQueued`.
 */
export async function readHistories(
  sql: Sql,
  asker: Asker,
  { keys, roleKey = '', until }: { keys: AggregateKey[]; roleKey?: string; until: Until | undefined },
): Promise<Histories> {
  const unique = [...new Map(keys.map((key) => [keyText(key), key])).values()]
  const ofObject = sql`
    e.aggregate_type = wanted.kind and e.aggregate_id = wanted.id and ${happenedBy(sql, until)}
    and (e.type <> all(${withoutEffect}) or e.aggregate_type not in ('organization', 'project'))
    and (e.type not like 'role.%' or e.payload ->> 'roleKey' = ${roleKey})
  `
  const read = (from: Fragment) => runQueued(sql, asker, sql<StoredEvent[]>`select ${eventColumns(sql)} from ${from}`)
  const rows = await read(sql`
    unnest(${unique.map(({ type }) => type)}::text[], ${unique.map(({ id }) => id)}::text[]) wanted (kind, id)
    cross join lateral (select * from events e where ${ofObject} order by e.sequence desc limit ${newest}) newest
    order by aggregate_type, aggregate_id, newest.sequence
  `)
  const grouped = Map.groupBy(rows, keyOf)
  const cut = [...grouped.values()].filter(({ length }) => length === newest).map(([first]) => first!)
  const earlier = cut.length === 0 ? [] : await read(earlierThan(sql, cut, ofObject))
  const before = Map.groupBy(earlier, keyOf)
  return <State>(type: string, id: string) => {
    const key = keyText({ type, id })
    return fold<State>(id, before.get(key) ?? [], grouped.get(key) ?? [])
  }
}

const typesOf = (effects: Record<string, string>, wanted: 'part' | 'none') =>
  Object.keys(effects).filter((type) => effects[type] === wanted)

const withoutEffect = [...typesOf(organizationEffects, 'none'), ...typesOf(projectEffects, 'none')]

/** The types of events, beside the first, that make the state. Each event of other objects says all there is. */
const making = {
  user_grant: typesOf(userGrantEffects, 'part'),
  project_grant: typesOf(projectGrantEffects, 'part'),
  project: typesOf(projectEffects, 'part'),
}

// The first event, and the last one of each type that makes the state.
function earlierThan(sql: Sql, cut: StoredEvent[], ofObject: Fragment): Fragment {
  return sql`
    unnest(
      ${cut.map(({ aggregate_type: type }) => type)}::text[], ${cut.map(({ aggregate_id: id }) => id)}::text[],
      ${cut.map(({ sequence }) => sequence)}::bigint[]
    ) wanted (kind, id, until)
    cross join lateral (
      (select * from events e where ${ofObject} and e.sequence < wanted.until order by e.sequence limit 1)
      union all
      select made.* from jsonb_array_elements_text(coalesce(${JSON.stringify(making)}::text::jsonb -> wanted.kind, '[]')) of_type (name)
      cross join lateral (
        select * from events e where ${ofObject} and e.sequence < wanted.until and e.type = of_type.name
        order by e.sequence desc limit 1
      ) made
    ) earlier
    order by aggregate_type, aggregate_id, earlier.sequence
  `
}

function keyOf({ aggregate_type: type, aggregate_id: id }: StoredEvent): string {
  return keyText({ type, id })
}

function fold<State>(id: string, earlier: StoredEvent[], newer: StoredEvent[]): History<State> {
  const steps: History<State>['steps'] = []
  let state: State | undefined
  for (const event of [...earlier, ...newer]) {
    const next = evolve[event.aggregate_type as keyof typeof evolve] as (before: unknown, event: unknown) => unknown
    // A newer release may have events that this one does not know.
    state = (next(state, event) as State | undefined) ?? state
    if (state) steps.push({ event, state })
  }
  const before = steps[earlier.length - 1]?.state
  return { id, organizationId: newer[0]?.organization_id ?? '', before, steps: steps.slice(earlier.length), state }
}
