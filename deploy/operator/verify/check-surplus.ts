import type { Aggregate } from '#lib/eventstore/aggregate'
import type { UniqueKey } from '#lib/eventstore/command'
import type { Sql } from '#lib/eventstore/database'
import { type Personal, subjectKeyOf } from '#lib/eventstore/personal/personal'
import type { StoredState } from '#lib/eventstore/personal/sealed-rows'
import type { View, Vocabulary } from '#lib/eventstore/vocabulary'
import type { StoringService } from '../../provision.ts'
import { type Finding, rowName } from './finding.ts'

/** Yields the rows of views and the unique keys that no aggregate accounts for. */
export async function* checkSurplus(
  sql: Sql,
  service: StoringService,
  model: Vocabulary,
  personal: Personal | undefined,
): AsyncGenerator<{ found: Finding[]; table: string }> {
  for (const view of model.views ?? [])
    for await (const rows of strangers(sql, `roster_${service}`, view))
      yield {
        found: rows.map((row) => ({ service, row: rowName(view.table, row), problem: 'it belongs to no object' })),
        table: view.table,
      }
  for await (const rows of strayKeys(sql, model, personal))
    yield {
      // A key may be a name or an address of a person.
      found: rows.map(({ kind, scope, aggregate_id }) => ({
        service,
        row: rowName('unique_keys', { kind, scope, aggregate_id }),
        problem: 'its holder has no such key',
      })),
      table: 'unique_keys',
    }
}

const pageSize = 500

async function* strangers(sql: Sql, schema: string, { table, type, key, of }: View) {
  const columns = key.map((column) => sql`v.${sql(column)}`).reduce((all, next) => sql`${all}, ${next}`)
  for (let after: string[] | undefined; ;) {
    const values = after?.map((value) => sql`${value}`).reduce((all, next) => sql`${all}, ${next}`)
    const rows = await sql<{ key: string[]; known: boolean }[]>`
      select array[${columns}]::text[] as key, exists (
        select from aggregates a
        where a.type = ${type} and ${of === undefined ? sql`a.id = v.${sql(key[0]!)}` : sql.unsafe(of)}
      ) as known
      from ${sql(schema)}.${sql(table)} v
      where ${values ? sql`(${columns}) > (${values})` : sql`true`} order by ${columns} limit ${pageSize}
    `
    if (rows.length === 0) return
    yield rows
      .filter(({ known }) => !known)
      .map((row) => Object.fromEntries(key.map((column, index) => [column, row.key[index]])))
    after = rows.at(-1)!.key
  }
}

interface KeyRow {
  kind: string
  scope: string
  key: string
  aggregate_id: string
  aggregate: (Pick<Aggregate, 'organizationId'> & StoredState) | null
}

// Nobody holds a key of a kind that the service does not know.
async function* strayKeys(
  sql: Sql,
  { keys, keyKinds = {}, keyKindsOfNobody = [] }: Vocabulary,
  personal: Personal | undefined,
): AsyncGenerator<KeyRow[]> {
  for (let after: KeyRow | undefined; ;) {
    const rows: KeyRow[] = await sql<KeyRow[]>`
      select kind, scope, key, aggregate_id, (
        select json_build_object('type', a.type, 'id', a.id, 'organizationId', a.organization_id, 'state', a.state,
          'sequence', a.sequence${personal ? sql`, 'key', ${subjectKeyOf(sql, sql`a.id`)}` : sql``})
        from aggregates a where a.type = ${sql.json(keyKinds)} ->> k.kind and a.id = k.aggregate_id
      ) as aggregate
      from unique_keys k
      where kind <> all(${[...keyKindsOfNobody]}::text[])
        and ${after ? sql`(kind, scope, key) > (${after.kind}, ${after.scope}, ${after.key})` : sql`true`}
      order by kind, scope, key limit ${pageSize}
    `
    if (rows.length === 0) return
    yield rows.filter(({ kind, scope, key, aggregate }) => {
      const holder = aggregate && open(aggregate, personal)
      if (aggregate && !holder) return false
      const held = holder ? (keys?.(holder) ?? []) : []
      const isOf = (one: UniqueKey) => (personal?.storedKey(one.kind, one.key) ?? one.key) === key
      return !held.some((one) => one.kind === kind && one.scope === scope && isOf(one))
    })
    after = rows.at(-1)!
  }
}

// Undefined for a state that nobody opens: it has a finding of its own.
function open(aggregate: NonNullable<KeyRow['aggregate']>, personal: Personal | undefined): Aggregate | undefined {
  try {
    return { ...aggregate, state: personal ? personal.openState(aggregate) : aggregate.state } as Aggregate
  } catch {
    return undefined
  }
}
