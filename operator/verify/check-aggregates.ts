import { type Aggregate, type AggregateKey, keyText, loadAggregates, type Read } from '#lib/eventstore/aggregate'
import type { UniqueKey } from '#lib/eventstore/command'
import { foldEvents, type Folded } from '#lib/eventstore/fold-events'
import type { Sql, Transaction } from '#lib/database/database'
import type { Personal } from '#lib/encryption/personal'
import type { Projection, Vocabulary } from '#lib/eventstore/vocabulary'
import type { StoringService } from '../../deploy/provision.ts'
import { differences, type Finding, rowName } from './finding.ts'
import { makeTemporaryTables, projectRows, type Row } from './project-rows.ts'

type Found = Omit<Finding, 'service'>

/** A unique key as it is stored. */
type Key = UniqueKey & { aggregate_id: string }
/** One that an aggregate should hold. */
type WantedKey = UniqueKey & { holder: AggregateKey }

const pageSize = 200

/**
 * Makes every aggregate anew from its events, and from it its rows of the projections and its unique keys. Yields what
 * differs, and after each page the number of aggregates that were looked at.
 */
export async function* checkAggregates(
  sql: Sql,
  service: StoringService,
  model: Vocabulary,
  personal: Personal | undefined,
): AsyncGenerator<{ found: Finding[]; looked: number }> {
  const schema = `roster_${service}`
  await makeTemporaryTables(sql, schema)
  let last: AggregateKey | undefined
  for (let looked = 0; ;) {
    const page = await readPage(sql, schema, model, personal, last)
    if (page.stored.length === 0) return
    // The rows of what is unreadable are unknown.
    const readable = page.stored.filter(({ unreadable }) => !unreadable)
    const anew = readable.map((stored) => page.folded.get(keyText(stored))!.aggregate)
    const expected = await projectRows(sql, model, [...page.rows.keys()], anew)
    const found = [
      ...page.stored.flatMap((stored) => compareAggregate(stored, page.folded.get(keyText(stored))!)),
      ...[...page.rows].flatMap(([projection, rows]) => compareRows(projection, rows, expected.get(projection)!)),
      ...page.wanted.flatMap((wanted) => compareKey(wanted, page.keys)),
    ]
    looked += page.stored.length
    last = page.stored.at(-1)!
    yield { found: found.map((one) => ({ service, ...one })), looked }
  }
}

// Some aggregates after this one, or the first ones, and all that was stored beside them. It comes from one snapshot,
// so that it fits together while others write. The transaction only reads: it has no number, and holds up no outbox.
async function readPage(
  sql: Sql,
  schema: string,
  model: Vocabulary,
  personal: Personal | undefined,
  after: AggregateKey | undefined,
) {
  return sql.begin('isolation level repeatable read read only', async (transaction) => {
    const names = await transaction<AggregateKey[]>`
      select type, id from aggregates
      where ${after ? transaction`(type, id) > (${after.type}, ${after.id})` : transaction`true`}
      order by type, id limit ${pageSize}
    `
    const stored = await loadAggregates(transaction, names, personal)
    const folded = await foldEvents(
      transaction,
      model,
      personal,
      // Events beyond that of the row are a finding.
      stored.map(({ type, id }) => ({ type, id, sequence: Number.MAX_SAFE_INTEGER })),
    )
    const readable = stored.filter(({ unreadable }) => !unreadable)
    const rows = new Map<Projection, Row[]>()
    for (const projection of model.projections ?? []) {
      const ids = readable.flatMap(({ type, id }) => (type === projection.type ? [id] : []))
      if (ids.length > 0) rows.set(projection, await readRows(transaction, schema, projection, ids))
    }
    const wanted = readable.flatMap(({ type, id }): WantedKey[] => {
      const keys = model.keys?.(folded.get(keyText({ type, id }))!.aggregate) ?? []
      return keys.map(({ kind, scope, key }) => {
        return { kind, scope, key: personal?.storedKey(kind, key) ?? key, holder: { type, id } }
      })
    })
    return { stored, folded, rows, wanted, keys: await readKeys(transaction, wanted) }
  })
}

// By its schema: without it, the name is that of the temporary table.
async function readRows(
  transaction: Transaction,
  schema: string,
  projection: Projection,
  ids: string[],
): Promise<Row[]> {
  const from = transaction`${transaction(schema)}.${transaction(projection.table)} v`
  const rows = await transaction<{ row: Row }[]>`
    select to_jsonb(v) as row from ${
      projection.of === undefined
        ? transaction`${from} where v.${transaction(projection.key[0]!)} = any(${ids})`
        : transaction`aggregates a join ${from} on ${transaction.unsafe(projection.of)} where a.type = ${projection.type} and a.id = any(${ids})`
    }
  `
  return rows.map(({ row }) => row)
}

async function readKeys(transaction: Transaction, wanted: UniqueKey[]): Promise<Key[]> {
  const [kinds, scopes, keys] = (['kind', 'scope', 'key'] as const).map((name) => wanted.map((key) => key[name]))
  return transaction<Key[]>`
    select k.kind, k.scope, k.key, k.aggregate_id
    from unnest(${kinds!}::text[], ${scopes!}::text[], ${keys!}::text[]) as w (kind, scope, key)
    join unique_keys k using (kind, scope, key)
  `
}

function compareAggregate(stored: Read<Aggregate>, { aggregate, problem }: Folded): Found[] {
  const say = (text: string) => [{ row: rowName('aggregates', { type: stored.type, id: stored.id }), problem: text }]
  if (problem === undefined && aggregate.sequence === 0) return say('it has no events')
  const { unreadable, readAt: _, ...row } = stored
  if (unreadable) return say(`its state cannot be decrypted: ${(unreadable.cause as Error).message}`)
  if (problem !== undefined) return say(problem)
  // An encrypted state whose key is gone: it is unknown.
  const differing = differences(row, stored.state === undefined ? { ...aggregate, state: undefined } : aggregate)
  return differing.length > 0 ? say(`${differing.join(', ')}: not what its events say`) : []
}

function compareRows({ table, key, without = [] }: Projection, stored: Row[], expected: Row[]): Found[] {
  const byName = (rows: Row[]) =>
    new Map(rows.map((row) => [rowName(table, Object.fromEntries(key.map((name) => [name, row[name]]))), row]))
  const [there, wanted] = [byName(stored), byName(expected)]
  const relevant = (row: Row) => Object.fromEntries(Object.entries(row).filter(([name]) => !without.includes(name)))
  return [...new Set([...there.keys(), ...wanted.keys()])].flatMap((row) => {
    const [is, should] = [there.get(row), wanted.get(row)]
    if (!is) return [{ row, problem: 'it is missing' }]
    if (!should) return [{ row, problem: 'it should not be there' }]
    const differing = differences(relevant(is), relevant(should))
    return differing.length > 0 ? [{ row, problem: `${differing.join(', ')}: not what the events say` }] : []
  })
}

function compareKey({ kind, scope, key, holder: { type, id } }: WantedKey, stored: Key[]): Found[] {
  const holder = stored.find((one) => one.kind === kind && one.scope === scope && one.key === key)?.aggregate_id
  if (holder === id) return []
  const name = `the unique key of kind ${kind}`
  const problem = holder === undefined ? `${name} is missing` : `another one holds ${name}: ${holder}`
  return [{ row: rowName('aggregates', { type, id }), problem }]
}
