import type { TextQueryMethod } from '#gen/roster/object/v1/search'
import { canonicalName } from './canonical-name.ts'
import type { Fragment, Sql } from '../database/database.ts'
import { type CanonicalPattern, canonicalPattern, type Comparison } from './canonical-pattern.ts'

/** Where a text stands: as it was given, and in the form in which it is compared, which the indexes are over. */
export interface TextColumn {
  exact: Fragment
  /** Of the type `text collate "C"`. */
  canonical: Fragment
}

/**
 * The condition that a text compares so with a column. A method that minds case also asks for what the canonical text
 * then has, because the index knows no other.
 */
export function textCondition(
  sql: Sql,
  column: TextColumn,
  text: string,
  method: TextQueryMethod,
  canonicalOf = canonicalName,
): Fragment {
  const { comparison, ignoresCase } = readMethod(method)
  const canonical = canonicalOf(text)
  if (ignoresCase) return compare(sql, column.canonical, comparison, canonical)
  const sure =
    comparison === 'equals'
      ? sql`${column.canonical} = ${canonical}`
      : match(sql, column.canonical, canonicalPattern(canonical, comparison))
  return sql`(${sure} and ${compare(sql, column.exact, comparison, text)})`
}

function match(sql: Sql, column: Fragment, { pattern, prefix }: CanonicalPattern): Fragment {
  return sql`${column} ~ ${pattern} ${within(sql, column, prefix)}`
}

const comparisons: (Comparison | 'equals')[] = ['equals', 'starts', 'contains', 'ends']

// The numbers come in pairs: one that minds case, and one that ignores it.
function readMethod(method: TextQueryMethod): { comparison: Comparison | 'equals'; ignoresCase: boolean } {
  const comparison = comparisons[method >> 1]
  if (comparison === undefined || method < 0) throw new Error(`no text is compared by the method ${method}`)
  return { comparison, ignoresCase: method % 2 === 1 }
}

function compare(sql: Sql, column: Fragment, comparison: Comparison | 'equals', text: string): Fragment {
  if (comparison === 'equals') return sql`${column} = ${text}`
  if (comparison === 'contains') return sql`${column} like ${`%${escapeLike(text)}%`}`
  if (comparison === 'ends') return sql`${column} like ${`%${escapeLike(text)}`}`
  return sql`(${column} like ${`${escapeLike(text)}%`} ${within(sql, column, text)})`
}

// The trigram index serves patterns, and the index of an order serves these bounds.
function within(sql: Sql, column: Fragment, prefix: string): Fragment {
  if (prefix === '') return sql``
  const end = afterPrefix(prefix)
  return sql`
    and ${column} collate "C" >= ${prefix} ${end === undefined ? sql`` : sql`and ${column} collate "C" < ${end}`}
  `
}

/** The text as it is, within a pattern of LIKE. */
export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, String.raw`\$&`)
}

/** The first text after all that start with the prefix, in the order of code points; undefined where there is none. */
export function afterPrefix(prefix: string): string | undefined {
  const points = [...prefix].map((point) => point.codePointAt(0)!)
  while (points.at(-1) === 0x10ffff) points.pop()
  const last = points.pop()
  // No text has a surrogate alone.
  return last === undefined ? undefined : String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
}
