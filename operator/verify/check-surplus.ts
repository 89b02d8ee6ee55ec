import { loadAggregates } from '#lib/eventstore/aggregate'
import type { UniqueKey } from '#lib/eventstore/command'
import type { Sql } from '#lib/database/database'
import type { Personal } from '#lib/encryption/personal'
import type { Projection, Vocabulary } from '#lib/eventstore/vocabulary'
import type { StoringService } from '../../deploy/provision.ts'
import { type Finding, rowName } from './finding.ts'

const pageSize = 500

/** Yields the rows of projections and the unique keys that no aggregate accounts for. */
export async function* checkSurplus(
  sql: Sql,
  service: StoringService,
  model: Vocabulary,
  personal: Personal | undefined,
): AsyncGenerator<{ found: Finding[]; table: string }> {
  for (const projection of model.projections ?? [])
    for await (const rows of strangers(sql, `roster_${service}`, projection)) {
      const found = rows.map((row) => ({
        service,
        row: rowName(projection.table, row),
        problem: 'it belongs to no object',
      }))
      yield { found, table: projection.table }
    }
  for await (const rows of strayKeys(sql, model, personal)) {
    // A key may be a name or an address of a person.
    const names = rows.map(({ kind, scope, aggregate_id }) => rowName('unique_keys', { kind, scope, aggregate_id }))
    yield { found: names.map((row) => ({ service, row, problem: 'its holder has no such key' })), table: 'unique_keys' }
  }
}

async function* strangers(sql: Sql, schema: string, { table, type, key, of }: Projection) {
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

type KeyRow = UniqueKey & { aggregate_id: string }

// A key of a kind that the service does not know has no holder. An unreadable holder has a finding of its own.
async function* strayKeys(
  sql: Sql,
  { keys, keyKinds = {}, keyKindsWithoutHolder = [] }: Vocabulary,
  personal: Personal | undefined,
): AsyncGenerator<KeyRow[]> {
  for (let after: KeyRow | undefined; ;) {
    // From one snapshot, so that they fit together while others write.
    const [rows, holders] = await sql.begin('isolation level repeatable read read only', async (transaction) => {
      const found: KeyRow[] = await transaction<KeyRow[]>`
        select kind, scope, key, aggregate_id from unique_keys
        where kind <> all(${[...keyKindsWithoutHolder]}::text[])
          and ${after ? sql`(kind, scope, key) > (${after.kind}, ${after.scope}, ${after.key})` : sql`true`}
        order by kind, scope, key limit ${pageSize}
      `
      const names = found.map(({ kind, aggregate_id: id }) => ({ type: keyKinds[kind] ?? '', id }))
      return [found, await loadAggregates(transaction, names, personal)] as const
    })
    if (rows.length === 0) return
    yield rows.filter(({ kind, scope, key }, index) => {
      const holder = holders[index]!
      const held = holder.sequence > 0 ? (keys?.(holder) ?? []) : []
      const isOf = (one: UniqueKey) => (personal?.storedKey(one.kind, one.key) ?? one.key) === key
      return !holder.unreadable && !held.some((one) => one.kind === kind && one.scope === scope && isOf(one))
    })
    after = rows.at(-1)!
  }
}
