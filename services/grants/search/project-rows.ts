import { canonicalName } from '#lib/search/canonical-name'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Insert, Transaction, Write } from '#lib/database/database'
import type { Project } from '../vocabulary/project.ts'

/** Keeps the table of searches in step with a project. */
export function projectProject(before: Aggregate<Project>, after: Aggregate<Project>): Write[] {
  return looksTheSame(before.state, after.state) ? [] : [{ row: toRow(after), into }]
}

interface ProjectRow {
  project_id: string
  organization_id: string
  created_at: Date
  inactive: boolean
  name: string
  canonical_name: string
  removed: boolean
}

function looksTheSame(was: Project | undefined, is: Project | undefined): boolean {
  return was?.name === is?.name && was?.inactive === is?.inactive && was?.removed === is?.removed
}

function toRow({ id, organizationId, createdAt, state }: Aggregate<Project>): ProjectRow {
  const { name, inactive = false, removed = false } = state!
  return {
    project_id: id,
    organization_id: organizationId,
    created_at: createdAt,
    inactive,
    name,
    canonical_name: canonicalName(name),
    removed,
  }
}

// A transaction may change a project more than once. One statement changes a row only once.
const into: Insert<ProjectRow>['into'] = (sql: Transaction, rows) => {
  const last = JSON.stringify([...new Map(rows.map((row) => [row.project_id, row])).values()])
  return sql`
    with given as (
      select * from jsonb_to_recordset(${last}::text::jsonb) as r (
        project_id text, organization_id text, created_at timestamptz, inactive boolean, name text, canonical_name text,
        removed boolean
      )
    ), gone as (
      delete from projects p using given where given.removed and p.project_id = given.project_id
    )
    insert into projects
    select project_id, organization_id, created_at, inactive, name, canonical_name from given where not removed
    on conflict (project_id) do update set
      inactive = excluded.inactive, name = excluded.name, canonical_name = excluded.canonical_name
  `
}
