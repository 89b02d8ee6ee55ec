import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Write } from '#lib/database/database'
import { canonicalName } from '#lib/search/canonical-name'
import { protocolOf } from './show.ts'
import type { Idp } from './vocabulary.ts'

/** The projections: brings the service's own tables up to date with a change. */
export function project({ after }: { after: Aggregate }): Write[] {
  return after.type === 'idp' ? projectIdp(after as Aggregate<Idp>) : []
}

function projectIdp({ id, organizationId, createdAt, state }: Aggregate<Idp>): Write[] {
  if (!state || state.removed) return removal(id)
  const { name, inactive = false } = state
  return [
    (sql) => sql`
      insert into idps (idp_id, organization_id, name, canonical_name, protocol, inactive, created_at)
      values (${id}, ${organizationId}, ${name}, ${canonicalName(name)}, ${protocolOf(state)}, ${inactive}, ${createdAt})
      on conflict (idp_id) do update
      set name = excluded.name, canonical_name = excluded.canonical_name, inactive = excluded.inactive
    `,
  ]
}

function removal(idpId: string): Write[] {
  return [
    (sql) => sql`delete from idps where idp_id = ${idpId}`,
    (sql) => sql`delete from client_secrets where idp_id = ${idpId}`,
  ]
}
