import type { Sql } from 'postgres'

/** What is removed in a round, and goes with all that belongs to it. */
export interface Doomed {
  organizationId: string
  projectId: string
  roleKey: string
  /** The names and addresses of its users have it. */
  marker: string
}

/** What is left of them, as aggregates, memberships and tokens. */
export async function findLeft(sql: Sql, { organizationId, projectId, roleKey }: Doomed): Promise<string[]> {
  const of = (service: string) => sql`
    select ${service} || ' ' || type || ' ' || id as name from ${sql(`roster_${service}`)}.aggregates
    where coalesce(state ->> 'removed', 'false') <> 'true' and (
      organization_id = ${organizationId} and type in ('user', 'member', 'project', 'project_grant', 'user_grant', 'application', 'idp', 'webhook')
      or type = 'project_grant' and state ->> 'grantedOrganizationId' = ${organizationId}
      or type in ('member', 'user_grant') and state ->> 'userId' in (
        select id from roster_users.aggregates where type = 'user' and organization_id = ${organizationId}
      )
      or type in ('project_grant', 'user_grant') and state ->> 'projectId' = ${projectId} and state -> 'roleKeys' ? ${roleKey}
    )
  `
  const rows = await sql<{ name: string }[]>`
    ${of('users')} union all ${of('grants')} union all ${of('idp')} union all ${of('notifier')}
    union all select 'membership of ' || user_id from roster_grants.memberships where organization_id = ${organizationId}
    union all select 'token of ' || user_id from roster_users.tokens where organization_id = ${organizationId}
  `
  return rows.map(({ name }) => name)
}

/** The events that took something away with them, and do not name their cause. */
export async function findUncaused(sql: Sql, { organizationId, projectId }: Doomed): Promise<string[]> {
  const of = (service: string) => sql`
    select ${service} || '-' || position as id from ${sql(`roster_${service}`)}.events e
    where cause is null and (
      organization_id = ${organizationId} and type = 'removed' and aggregate_type <> 'organization'
      or aggregate_type in ('project_grant', 'user_grant') and type in ('changed', 'removed') and exists (
        select from ${sql(`roster_${service}`)}.aggregates a
        where a.type = e.aggregate_type and a.id = e.aggregate_id and a.state ->> 'projectId' = ${projectId}
      )
    )
  `
  const rows = await sql<{ id: string }[]>`
    ${of('users')} union all ${of('grants')} union all ${of('idp')} union all ${of('notifier')}
  `
  return rows.map(({ id }) => `${id} names no cause`)
}

/** Whose names and addresses are to be erased: those of all users of an organization, or of one. */
export type Erased = Pick<Doomed, 'organizationId' | 'marker'> & { userId?: string }

/** Where the names and addresses of users can still be read: the tables of all services, and the stream. */
export async function findReadable(
  sql: Sql,
  streamed: (erased: Erased) => Promise<string[]>,
  erased: Erased,
): Promise<string[]> {
  const tables = await sql<{ schema: string; name: string }[]>`
    select schemaname as schema, tablename as name from pg_tables where schemaname like 'roster\\_%'
  `
  const places = await streamed(erased)
  for (const { schema, name } of tables) {
    const [row] = await sql<[{ found: boolean }]>`
      select exists (select from ${sql(schema)}.${sql(name)} t where t::text ilike ${`%${erased.marker}%`}) as found
    `
    if (row.found) places.push(`${schema}.${name}`)
  }
  return places
}
