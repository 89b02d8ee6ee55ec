import { canonicalName } from '#lib/canonical-name'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Sql, Transaction, Write } from '#lib/eventstore/database'
import type { Organization } from '../vocabulary/organization.ts'

const portion = 1000

/** Keeps the table of searches in step with an organization. */
export function projectOrganization({ id, createdAt, state }: Aggregate<Organization>): Write[] {
  if (!state) return []
  if (state.removed) return [(sql) => sql`delete from organizations where organization_id = ${id}`]
  return [(sql) => write(sql, { id, createdAt, state })]
}

/** Adds the organizations of earlier versions. Nobody changes one meanwhile. */
export async function fillOrganizations(sql: Sql): Promise<void> {
  for (let found = portion; found === portion;)
    found = await sql.begin(async (transaction) => {
      const missing = await transaction<Filled[]>`
        select id, created_at as "createdAt", state from aggregates a
        where type = 'organization' and not state ? 'removed'
          and not exists (select from organizations o where o.organization_id = a.id)
        order by id limit ${portion} for share of a
      `
      for (const organization of missing) await write(transaction, organization)
      return missing.length
    })
}

interface Filled {
  id: string
  createdAt: Date
  state: Organization
}

function write(sql: Transaction, { id, createdAt, state }: Filled) {
  const { name, primaryDomain, inactive = false } = state
  return sql`
    insert into organizations (organization_id, created_at, inactive, primary_domain, name, canonical_name)
    values (${id}, ${createdAt}, ${inactive}, ${primaryDomain}, ${name}, ${canonicalName(name)})
    on conflict (organization_id) do update set
      inactive = excluded.inactive, primary_domain = excluded.primary_domain, name = excluded.name,
      canonical_name = excluded.canonical_name
  `
}
