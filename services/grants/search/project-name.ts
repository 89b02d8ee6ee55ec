import type { Sql } from '#lib/database/database'
import type { TextColumn } from '#lib/search/text-condition'

/** The name of a project `p`. */
export function projectName(sql: Sql): TextColumn {
  return { exact: sql`p.name`, canonical: sql`p.canonical_name` }
}
