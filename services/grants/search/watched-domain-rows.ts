import type { Write } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Organization } from '../vocabulary/organization.ts'
import { isWatched } from '../vocabulary/organization-domain.ts'

/** Keeps the table of the domains whose records are looked for in step with an organization. */
export function projectWatchedDomains(before: Aggregate<Organization>, after: Aggregate<Organization>): Write[] {
  const [known, watched] = [watchedOf(before), watchedOf(after)]
  const gone = known.filter((domain) => !watched.includes(domain))
  const added = watched.filter((domain) => !known.includes(domain))
  return [
    ...gone.map((domain): Write => {
      return (sql) => sql`delete from watched_domains where organization_id = ${after.id} and domain = ${domain}`
    }),
    ...added.map((domain): Write => {
      return (sql) => sql`
        insert into watched_domains (organization_id, domain, looked_at, soon)
        values (${after.id}, ${domain}, roster_now(), false)
        on conflict (organization_id, domain) do nothing
      `
    }),
  ]
}

function watchedOf({ state }: Aggregate<Organization>): string[] {
  return (state?.domains ?? []).filter(isWatched).map(({ domain }) => domain)
}
