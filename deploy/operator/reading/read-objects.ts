import type { Aggregate, AggregateKey } from '#lib/eventstore/aggregate'
import type { Sql } from '#lib/eventstore/database'
import { type Personal, subjectKeyOf } from '#lib/eventstore/personal/personal'
import { bytesOf, firstPage, fitting, largestValue, nextLimit } from './page-limits.ts'

/** An object as it was read. One that is not small, or that nobody can open, has no state. */
export interface ReadObject extends Omit<Aggregate, 'unreadable'> {
  isSmall: boolean
  bytes: number
  isUnreadable: boolean
}

type Row = Omit<Aggregate, 'unreadable' | 'sequence'> &
  Pick<ReadObject, 'isSmall' | 'bytes'> & { number: number; sequence: string; key?: string | null }

/** Those of these objects that exist, a page after the other. They may be any number of large ones. */
export async function* readObjects(
  sql: Sql,
  keys: AggregateKey[],
  personal: Personal | undefined,
): AsyncGenerator<ReadObject[]> {
  let limit = firstPage
  for (let from = 0; from < keys.length;) {
    const asked = keys.slice(from, from + limit)
    const rows = await readPage(sql, asked, personal)
    yield rows.map((row) => open(row, personal))
    // Those after the last one that was found may be missing, or may not have fitted.
    from += rows.at(-1)?.number ?? asked.length
    limit = nextLimit(rows.length)
  }
}

function readPage(sql: Sql, keys: AggregateKey[], personal: Personal | undefined) {
  const [types, ids] = [keys.map(({ type }) => type), keys.map(({ id }) => id)]
  const measured = sql`
    select number, a.*, ${bytesOf(sql, ['state', 'organization_id'])} as bytes
    from unnest(${types}::text[], ${ids}::text[]) with ordinality asked (of_type, of_id, number)
    cross join lateral (select * from aggregates where type = of_type and id = of_id limit 1) a
  `
  return sql<Row[]>`
    select number::int, type, id, sequence, created_at as "createdAt", changed_at as "changedAt", bytes::float8,
      bytes <= ${largestValue} as "isSmall",
      case when bytes <= ${largestValue} then organization_id else '' end as "organizationId",
      case when bytes <= ${largestValue} then state end as state
      ${personal ? sql`, ${subjectKeyOf(sql, sql`o.id`)} as key` : sql``}
    from (${fitting(sql, measured, sql`number`)}) o order by number
  `
}

function open(read: Row, personal: Personal | undefined): ReadObject {
  const { number: _, key, ...row } = read
  const object = { ...row, sequence: Number(row.sequence), isUnreadable: false }
  if (!personal || !row.isSmall) return object
  try {
    return { ...object, state: personal.openState({ ...row, key }) }
  } catch {
    return { ...object, state: undefined, isUnreadable: true }
  }
}
