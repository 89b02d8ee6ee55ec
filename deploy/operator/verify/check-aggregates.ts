import { type Aggregate, type AggregateKey, keyText } from '#lib/eventstore/aggregate'
import type { UniqueKey } from '#lib/eventstore/command'
import type { Sql } from '#lib/eventstore/database'
import type { Personal } from '#lib/eventstore/personal/personal'
import type { View, Vocabulary } from '#lib/eventstore/vocabulary'
import type { StoringService } from '../../provision.ts'
import { differences, type Finding, rowName } from './finding.ts'
import { type Page, readPage } from './read-page.ts'
import { makeTemporaryTables, projectRows } from './project-rows.ts'

/**
 * Makes every aggregate anew from its events, and from it its rows of the views and its unique keys. Yields what
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
    if (!page) return
    const views = [...page.rows.keys()]
    // Of what nobody can read, nobody knows the rows.
    const readable = page.stored.filter((stored) => !page.unreadable.has(stored))
    const expected = await projectRows(
      sql,
      model,
      views,
      readable.map((stored) => page.folded.get(keyText(stored))!.aggregate),
    )
    looked += page.stored.length
    const found = [
      ...page.stored.flatMap((stored) => compareAggregate(stored, page)),
      ...views.flatMap((view) => compareRows(view, page, expected.get(view)!)),
      ...readable.flatMap((stored) => compareKeys(stored, page, model, personal)),
    ]
    yield { found: found.map((one) => ({ service, ...one })), looked }
    last = page.stored.at(-1)!
  }
}

type Found = Omit<Finding, 'service'>

function compareAggregate(stored: Aggregate, { folded, unreadable }: Page): Found[] {
  const { aggregate, problem } = folded.get(keyText(stored))!
  const row = rowName('aggregates', { type: stored.type, id: stored.id })
  if (problem === undefined && aggregate.sequence === 0) return [{ row, problem: 'it has no events' }]
  const unopened = unreadable.get(stored)
  if (unopened !== undefined) return [{ row, problem: unopened }]
  if (problem !== undefined) return [{ row, problem }]
  // A sealed state whose key is gone: nobody can tell.
  const known = stored.state === undefined ? { ...aggregate, state: undefined } : aggregate
  const differing = differences(stored, known, '')
  return differing.length > 0 ? [{ row, problem: `${differing.join(', ')}: not what its events say` }] : []
}

function compareRows(view: View, { rows }: Page, expected: Record<string, unknown>[]): Found[] {
  const { table, key, without = [] } = view
  const nameOf = (row: Record<string, unknown>) =>
    rowName(table, Object.fromEntries(key.map((column) => [column, row[column]])))
  const there = new Map(rows.get(view)!.map((row) => [nameOf(row), row]))
  const wanted = new Map(expected.map((row) => [nameOf(row), row]))
  const relevant = (row: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(row).filter(([column]) => !without.includes(column)))
  return [...new Set([...there.keys(), ...wanted.keys()])].flatMap((name) => {
    const [is, should] = [there.get(name), wanted.get(name)]
    if (!is) return [{ row: name, problem: 'it is missing' }]
    if (!should) return [{ row: name, problem: 'it should not be there' }]
    const differing = differences(relevant(is), relevant(should), '')
    return differing.length > 0 ? [{ row: name, problem: `${differing.join(', ')}: not what the events say` }] : []
  })
}

function compareKeys(
  stored: Aggregate,
  { folded, keys }: Page,
  model: Vocabulary,
  personal: Personal | undefined,
): Found[] {
  const wanted = model.keys?.(folded.get(keyText(stored))!.aggregate) ?? []
  return wanted.flatMap(({ kind, scope, key }: UniqueKey) => {
    const text = personal?.storedKey(kind, key) ?? key
    const holder = keys.find((one) => one.kind === kind && one.scope === scope && one.key === text)?.aggregate_id
    if (holder === stored.id) return []
    const name = `the unique key of kind ${kind}`
    const problem = holder === undefined ? `${name} is missing` : `another one holds ${name}: ${holder}`
    return [{ row: rowName('aggregates', { type: stored.type, id: stored.id }), problem }]
  })
}
