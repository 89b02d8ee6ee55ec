import type { KeyObject } from 'node:crypto'
import type { ObjectDetails } from '#gen/roster/object/v1/object'
import type { Sql, Transaction } from '../database/database.ts'
import type { Personal } from '../encryption/personal.ts'
import { spanOfStatement } from '../telemetry/statement-span.ts'

/** Names one aggregate, whose state is a `State`. The functions that make the keys of a type say so, beside its events. */
export interface AggregateKey<State = unknown> {
  type: string
  id: string
  /** It is never there, and known to the compiler alone. */
  readonly [stateOf]?: State
}

declare const stateOf: unique symbol

/**
 * How much the function that folds a type knows, 0 where it is missing: raise it when an old event leaves more in the state
 * than it did in the former release. Rows of a lower fold are folded again.
 */
export type Folds = Record<string, number>

/** An aggregate after its last event. Where it does not exist, `state` is undefined and `sequence` is 0. */
export interface Aggregate<State = unknown> extends AggregateKey {
  organizationId: string
  sequence: number
  createdAt: Date
  changedAt: Date
  state: State | undefined
  /** Why the state of an aggregate that exists is unreadable. The state is undefined then. */
  unreadable?: UnreadableState | undefined
  /** Whether its events are to be folded again: a release wrote it that did not know all of today's state. */
  outdated?: true | undefined
}

/** The error of a row that somebody changed, or whose key is lost. It concerns this one aggregate. */
export class UnreadableState extends Error {
  readonly aggregate: Aggregate<never>

  constructor(aggregate: Aggregate<never>, cause: unknown) {
    super(`the state of ${aggregate.type} ${aggregate.id} cannot be read`, { cause })
    this.aggregate = aggregate
  }
}

export type Existing<State> = Aggregate<State> & { state: State }

export function exists<State>(aggregate: Aggregate<State>): aggregate is Existing<State> {
  return aggregate.state !== undefined
}

/** What was read, and PostgreSQL's time of that. */
export type Read<Kind extends Aggregate> = Kind & { readAt: Date }

/** The span of `loadAggregates`. */
export const loading = spanOfStatement('SELECT aggregates', { 'db.collection.name': 'aggregates' })

/**
 * Loads aggregates in one statement, in the order of the keys. Equal keys get the same object. `subjects` gets the keys
 * of the people whom they are about, by their ids. Those of a lower fold than in `folds` are `outdated`.
 */
// It has no parts: each part of a statement costs as much as the lookup of a row. A missing aggregate has a row too,
// which holds the time. The sub-selects hide the length of the arrays from the planner. Otherwise a custom plan for one key
// looks cheaper than the generic plan, and each execution is planned again, which takes longer than the execution.
export async function loadAggregates(
  sql: Sql | Transaction,
  keys: AggregateKey[],
  personal?: Personal,
  subjects?: Map<string, KeyObject>,
  folds: Folds = {},
): Promise<Read<Aggregate>[]> {
  const asked = [...new Map(keys.map((key) => [keyText(key), key])).values()]
  const rows = await sql<(Row | MissingRow)[]>`
    select k.type, k.id, organization_id, sequence, created_at, changed_at, state, fold, roster_now() as read_at,
      (select wrapped::text from subject_keys where subject_id = a.id) as key
    from unnest((select ${asked.map(({ type }) => type)}::text[]), (select ${asked.map(({ id }) => id)}::text[])) k (type, id)
    left join aggregates a on a.type = k.type and a.id = k.id
  `
  if (personal && subjects) addKeys(subjects, rows, personal)
  const found = new Map(
    rows.map((row) => {
      const aggregate = row.sequence === null ? missing(row) : fromRow(row, personal, folds[row.type])
      return [keyText(row), { ...aggregate, readAt: row.read_at }]
    }),
  )
  return keys.map((key) => found.get(keyText(key))!)
}

/** What `loading` gives, or else the aggregate without its state, where that is unreadable. */
export function evenUnreadable<State>(
  loading: Promise<Existing<State> | undefined>,
): Promise<Aggregate<State> | undefined> {
  return loading.catch((error: unknown) => {
    if (error instanceof UnreadableState) return error.aggregate
    throw error
  })
}

/** The details block of an answer about this aggregate. */
export function details(aggregate: Aggregate): ObjectDetails {
  return {
    sequence: aggregate.sequence,
    creationDate: aggregate.createdAt,
    changeDate: aggregate.changedAt,
    resourceOwner: aggregate.organizationId,
  }
}

/** A text that two equal keys share. */
export function keyText(key: AggregateKey): string {
  return `${key.type}/${key.id}`
}

interface Row extends AggregateKey {
  read_at: Date
  organization_id: string
  sequence: string
  created_at: Date
  changed_at: Date
  state: unknown
  fold: number | null
  key: string | null
}

type MissingRow = Pick<Row, 'type' | 'id' | 'read_at'> & { sequence: null; key: null }

// A key that cannot be unwrapped is the fault of one row: all that it encrypts is unreadable.
function addKeys(subjects: Map<string, KeyObject>, rows: Pick<Row, 'id' | 'key'>[], personal: Personal): void {
  for (const { id, key } of rows) {
    if (!key) continue
    try {
      subjects.set(id, personal.unwrap(key))
    } catch {}
  }
}

function fromRow(row: Row, personal: Personal | undefined, fold = 0): Aggregate {
  const known = {
    type: row.type,
    id: row.id,
    organizationId: row.organization_id,
    sequence: Number(row.sequence),
    createdAt: row.created_at,
    changedAt: row.changed_at,
    state: undefined,
    ...((row.fold ?? 0) < fold && { outdated: true as const }),
  }
  try {
    return { ...known, state: personal ? personal.decryptState(row) : row.state }
  } catch (error) {
    return { ...known, unreadable: new UnreadableState(known, error) }
  }
}

/** An aggregate that does not exist. */
export function missing({ type, id }: AggregateKey): Aggregate<never> {
  const never = new Date(0)
  return { type, id, organizationId: '', sequence: 0, createdAt: never, changedAt: never, state: undefined }
}
