import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Write } from '#lib/database/database'
import type { Application } from '../vocabulary/application.ts'

/** Keeps the table of what ends in step with an application. */
export function projectApplicationCredentials(before: Aggregate<Application>, after: Aggregate<Application>): Write[] {
  const [was, is] = [before.state, after.state]
  if (was?.secrets === is?.secrets && was?.keys === is?.keys) return []
  const [had, has] = [endingOf(was), endingOf(is)]
  if (had.length === 0 && has.length === 0) return []
  const { id, organizationId } = after
  const projectId = is!.projectId
  const rows = has.map((ending) => ({
    ...ending,
    application_id: id,
    project_id: projectId,
    organization_id: organizationId,
  }))
  return [
    (sql) => sql`delete from application_credentials where application_id = ${id}`,
    ...(rows.length === 0 ? [] : [((sql) => sql`insert into application_credentials ${sql(rows)}`) satisfies Write]),
  ]
}

function endingOf({ secrets = [], keys = [] }: Pick<Application, 'secrets' | 'keys'> = {}) {
  const all = [
    ...secrets.map(({ secretId, expiresAt }) => ({ credential_id: secretId, kind: 'secret', ends_at: expiresAt })),
    ...keys.map(({ keyId, expiresAt }) => ({ credential_id: keyId, kind: 'key', ends_at: expiresAt })),
  ]
  return all.filter(({ ends_at }) => ends_at !== undefined)
}
