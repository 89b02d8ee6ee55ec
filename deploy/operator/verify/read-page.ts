import type { Aggregate, AggregateKey } from '#lib/eventstore/aggregate'
import { keyText } from '#lib/eventstore/aggregate'
import type { UniqueKey } from '#lib/eventstore/command'
import type { Sql, Transaction } from '#lib/eventstore/database'
import { type Personal, subjectKeyOf } from '#lib/eventstore/personal/personal'
import type { View, Vocabulary } from '#lib/eventstore/vocabulary'
import { foldEvents, type Folded } from './fold-events.ts'

/** Some aggregates, and all that was stored beside them at one moment. */
export interface Page {
  stored: Aggregate[]
  /** Those whose state no key opens, and why: somebody changed the row, or the key is lost. */
  unreadable: Map<Aggregate, string>
  /** What the events say, by `keyText`. */
  folded: Map<string, Folded>
  /** The rows of each view, as JSON. */
  rows: Map<View, Record<string, unknown>[]>
  /** The rows of the unique keys that the aggregates should hold. */
  keys: (UniqueKey & { aggregate_id: string })[]
}

const pageSize = 200

/**
 * Reads the aggregates after this one, or the first ones. All comes from one snapshot, so that it fits together while
 * others write. The transaction only reads: it has no number, and holds up no tail.
 */
export async function readPage(
  sql: Sql,
  schema: string,
  model: Vocabulary,
  personal: Personal | undefined,
  after: AggregateKey | undefined,
): Promise<Page | undefined> {
  return sql.begin('isolation level repeatable read read only', async (transaction) => {
    const { stored, unreadable } = await readAggregates(transaction, personal, after)
    if (stored.length === 0) return undefined
    const folded = await foldEvents(transaction, model, personal, stored)
    const views = (model.views ?? []).filter((view) => stored.some(({ type }) => type === view.type))
    const readable = stored.filter((aggregate) => !unreadable.has(aggregate))
    const rows = new Map<View, Record<string, unknown>[]>()
    for (const view of views) rows.set(view, await readRows(transaction, schema, view, readable))
    const wanted = readable.flatMap((aggregate) => model.keys?.(folded.get(keyText(aggregate))!.aggregate) ?? [])
    const keys = wanted.map((key) => ({ ...key, key: personal?.storedKey(key.kind, key.key) ?? key.key }))
    return { stored, unreadable, folded, rows, keys: await readKeys(transaction, keys) }
  })
}

async function readAggregates(
  transaction: Transaction,
  personal: Personal | undefined,
  after: AggregateKey | undefined,
): Promise<Pick<Page, 'stored' | 'unreadable'>> {
  const found = await transaction<(Omit<Aggregate, 'sequence'> & { sequence: string; key?: string | null })[]>`
    select type, id, organization_id as "organizationId", sequence, created_at as "createdAt",
      changed_at as "changedAt", state
      ${personal ? transaction`, ${subjectKeyOf(transaction, transaction`aggregates.id`)} as key` : transaction``}
    from aggregates
    where ${after ? transaction`(type, id) > (${after.type}, ${after.id})` : transaction`true`}
    order by type, id limit ${pageSize}
  `
  const unreadable = new Map<Aggregate, string>()
  const stored = found.map(({ key, ...row }) => {
    const aggregate: Aggregate = { ...row, sequence: Number(row.sequence) }
    try {
      if (personal) aggregate.state = personal.openState({ ...row, key })
    } catch {
      unreadable.set(aggregate, key ? 'its sealed state cannot be opened' : 'the key of its sealed state is lost')
    }
    return aggregate
  })
  return { stored, unreadable }
}

// By its schema: without it, the name is that of the temporary table.
async function readRows(transaction: Transaction, schema: string, view: View, stored: Aggregate[]) {
  const ids = stored.filter(({ type }) => type === view.type).map(({ id }) => id)
  const from = transaction`${transaction(schema)}.${transaction(view.table)}`
  const rows =
    view.of === undefined
      ? await transaction<{ row: Record<string, unknown> }[]>`
          select to_jsonb(v) as row from ${from} v where v.${transaction(view.key[0]!)} = any(${ids})
        `
      : await transaction<{ row: Record<string, unknown> }[]>`
          select to_jsonb(v) as row from aggregates a join ${from} v on ${transaction.unsafe(view.of)}
          where a.type = ${view.type} and a.id = any(${ids})
        `
  return rows.map(({ row }) => row)
}

function readKeys(transaction: Transaction, wanted: UniqueKey[]) {
  const [kinds, scopes, keys] = (['kind', 'scope', 'key'] as const).map((name) => wanted.map((key) => key[name]))
  return transaction<Page['keys']>`
    select k.kind, k.scope, k.key, k.aggregate_id
    from unnest(${kinds!}::text[], ${scopes!}::text[], ${keys!}::text[]) as w (kind, scope, key)
    join unique_keys k using (kind, scope, key)
  `
}
