import { orUnavailable, type Sql } from '#lib/database/database'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import type { ServiceCall } from '#lib/rpc/call'
import { because, startFollowing } from '#lib/subscriptions/follow'
import type { Context } from '../../context.ts'
import { canonicalAddress, mailAddress } from '../email/address.ts'
import { lookupById } from './organization-domain.ts'

/** The domain of an address, as domains are verified: in lower case, in Punycode. */
export function domainOfAddress(email: string): string {
  const address = mailAddress(canonicalAddress(email))
  return address.slice(address.lastIndexOf('@') + 1)
}

/** Whether a domain, as `domainOfAddress` gives it, is verified for the organization now. UNAVAILABLE STORE_UNAVAILABLE. */
export async function isVerifiedDomain(sql: Sql, organizationId: string, domain: string): Promise<boolean> {
  return (await organizationOfDomain(sql, domain)) === organizationId
}

/** The organization that has verified a domain, as `domainOfAddress` gives it. UNAVAILABLE STORE_UNAVAILABLE. */
export async function organizationOfDomain(sql: Sql, domain: string): Promise<string | undefined> {
  const [row] = await orUnavailable(sql<{ organizationId: string }[]>`
    select organization_id as "organizationId" from verified_domains where domain = ${domain}
  `)
  return row?.organizationId
}

/** Follows which domains of organizations are verified. An event only says of which organization to ask. */
export function startFollowingDomains({ grants, sql }: Pick<Context, 'grants' | 'sql'>, nats: Nats, log: Log): Service {
  return startFollowing({
    name: 'verified-domains',
    service: 'grants',
    feed: grants.listEvents,
    eventTypes: ['domain.verified', 'domain.unverified', 'domain.removed', 'removed'].map(
      (type) => `organization.${type}`,
    ),
    handle: (event) => keepDomains({ grants, sql }, event.aggregateId, because(event)),
    sql,
    nats,
    log,
  })
}

/** Brings the rows of one organization up to date. */
export async function keepDomains(
  { grants, sql }: Pick<Context, 'grants' | 'sql'>,
  organizationId: string,
  call: ServiceCall,
): Promise<void> {
  await sql.begin(async (transaction) => {
    // One replica at a time asks and writes, so that no older answer is written later.
    await transaction`select pg_advisory_xact_lock(hashtextextended(${`verified domains ${organizationId}`}, 0))`
    const domains = (await lookupById(grants, organizationId, call))?.verifiedDomains ?? []
    await transaction`
      delete from verified_domains where organization_id = ${organizationId} and domain <> all(${domains}::text[])
    `
    await transaction`
      insert into verified_domains (domain, organization_id, since)
      select domain, ${organizationId}, coalesce((select max(position) from events), 0)
      from unnest(${domains}::text[]) d (domain)
      on conflict (domain) do update set organization_id = excluded.organization_id, since = excluded.since
      where verified_domains.organization_id <> excluded.organization_id
    `
  })
}
