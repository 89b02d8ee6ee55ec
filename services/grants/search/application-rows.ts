import { canonicalName } from '#lib/search/canonical-name'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Insert, Transaction, Write } from '#lib/database/database'
import type { Application } from '../vocabulary/application.ts'

/**
 * Keeps the table of searches in step with an application. A secret that it no longer has, for any reason, leaves
 * nothing that can prove it.
 */
export function projectApplication(before: Aggregate<Application>, after: Aggregate<Application>): Write[] {
  const [was, is] = [before.state, after.state]
  const kept = new Set(is?.secrets?.map(({ secretId }) => secretId))
  const gone = (was?.secrets ?? []).flatMap(({ secretId }) => (kept.has(secretId) ? [] : secretId))
  return [
    ...(looksTheSame(was, is) ? [] : [{ row: toRow(after), into }]),
    ...(gone.length === 0 ? [] : [deleteSecrets(gone)]),
  ]
}

function deleteSecrets(secretIds: string[]): Write {
  return (sql) => sql`delete from application_secrets where secret_id = any(${secretIds}::text[])`
}

interface ApplicationRow {
  application_id: string
  project_id: string
  organization_id: string
  inactive: boolean
  name: string
  canonical_name: string
  removed: boolean
}

function looksTheSame(was: Application | undefined, is: Application | undefined): boolean {
  return was?.name === is?.name && was?.inactive === is?.inactive && was?.removed === is?.removed
}

function toRow({ id, organizationId, state }: Aggregate<Application>): ApplicationRow {
  const { projectId, name, inactive = false, removed = false } = state!
  return {
    application_id: id,
    project_id: projectId,
    organization_id: organizationId,
    inactive,
    name,
    canonical_name: canonicalName(name),
    removed,
  }
}

// A transaction may change an application more than once. One statement changes a row only once.
const into: Insert<ApplicationRow>['into'] = (sql: Transaction, rows) => {
  const last = JSON.stringify([...new Map(rows.map((row) => [row.application_id, row])).values()])
  return sql`
    with given as (
      select * from jsonb_to_recordset(${last}::text::jsonb) as r (
        application_id text, project_id text, organization_id text, inactive boolean, name text, canonical_name text,
        removed boolean
      )
    ), gone as (
      delete from applications a using given where given.removed and a.application_id = given.application_id
    )
    insert into applications
    select application_id, project_id, organization_id, inactive, name, canonical_name from given where not removed
    on conflict (application_id) do update set
      inactive = excluded.inactive, name = excluded.name, canonical_name = excluded.canonical_name
  `
}
