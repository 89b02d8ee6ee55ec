import { canonicalName } from '#lib/search/canonical-name'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Write } from '#lib/database/database'
import type { Organization } from '../vocabulary/organization.ts'

/** Keeps the table of searches in step with an organization. */
export function projectOrganization({ id, createdAt, state }: Aggregate<Organization>): Write[] {
  if (!state) return []
  if (state.removed) return [(sql) => sql`delete from organizations where organization_id = ${id}`]
  const { name, primaryDomain, inactive = false } = state
  return [
    (sql) => sql`
      insert into organizations (organization_id, created_at, inactive, primary_domain, name, canonical_name)
      values (${id}, ${createdAt}, ${inactive}, ${primaryDomain}, ${name}, ${canonicalName(name)})
      on conflict (organization_id) do update set
        inactive = excluded.inactive, primary_domain = excluded.primary_domain, name = excluded.name,
        canonical_name = excluded.canonical_name
    `,
  ]
}
