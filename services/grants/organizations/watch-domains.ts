import { RosterError } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Log } from '#lib/log'
import type { Service } from '#lib/process'
import { repeat } from '#lib/repeat'
import { anonymous } from '#lib/rpc/caller'
import { isBesideFormer } from '#lib/schema/releases'
import { throttled } from '#lib/throttled'
import type { Context } from '../context.ts'
import { type Finding, findRecord } from './domain-record.ts'
import { foundRecord, missedRecord } from './verified-domain.ts'
import type { Organization, OrganizationEvent } from '../vocabulary/organization.ts'
import { isWatched, type OrganizationDomain } from '../vocabulary/organization-domain.ts'

const atOnce = 20
/** So many looks in place of one, where the record was missing, or nobody answered. */
const soonerBy = 24

interface Due {
  organizationId: string
  domain: string
  /** Name servers have not answered for so long that it counts as a missing record. */
  isSilent: boolean
}

type Watching = Pick<Context, 'config' | 'sql' | 'store'>

/** Looks for the records of verified domains, of each once a day. Of several replicas, one takes each look. */
export function startWatchingDomains(context: Watching, log: Log): Service {
  const every = Math.min(60_000, (context.config.DOMAIN_CHECK_INTERVAL * 1000) / soonerBy)
  const failed = throttled(log, 'the look for the records of verified domains waits and tries again')
  return repeat({ work: () => lookAtDue(context), every, retryAfter: 5000, failed })
}

async function lookAtDue(context: Watching): Promise<'more' | undefined> {
  const { sql, config } = context
  // A replica of the former release could not publish what it leads to.
  if (await isBesideFormer(sql)) return undefined
  const seconds = config.DOMAIN_CHECK_INTERVAL
  const before = (span: number) => sql`roster_now() - make_interval(secs => ${span})`
  const due = await sql<Due[]>`
    update watched_domains w set looked_at = roster_now() from (
      select organization_id, domain from watched_domains
      where (soon and looked_at <= ${before(seconds / soonerBy)}) or (not soon and looked_at <= ${before(seconds)})
      order by looked_at limit ${atOnce} for update skip locked
    ) d
    where w.organization_id = d.organization_id and w.domain = d.domain
    returning w.organization_id as "organizationId", w.domain,
      coalesce(w.unanswered_since <= ${before(seconds)}, false) as "isSilent"
  `
  await Promise.all(due.map((one) => look(context, one)))
  return due.length === atOnce ? 'more' : undefined
}

async function look(context: Watching, { organizationId, domain, isSilent }: Due): Promise<void> {
  const { config, sql, store } = context
  const known = watchedOf(await store.load<Organization>('organization', organizationId), domain)
  if (!known) return
  const { record } = await findRecord(config, domain, known.value)
  // An outage of name servers is no reason to take a domain away, unless it lasts.
  if (record !== 'unknown' || isSilent) await decideOn(context, organizationId, known, record)
  await sql`
    update watched_domains set soon = ${record !== 'present'},
      unanswered_since = ${record === 'unknown' ? sql`coalesce(unanswered_since, roster_now())` : null}
    where organization_id = ${organizationId} and domain = ${domain}
  `
}

async function decideOn(
  { config, store }: Watching,
  organizationId: string,
  { domain, value }: OrganizationDomain,
  record: Finding['record'],
): Promise<void> {
  try {
    await store.execute({
      aggregate: { type: 'organization', id: organizationId },
      call: { caller: anonymous, requestId: 'domain-look', deadline: Date.now() + 30_000 },
      decide(organization: Aggregate<Organization>, now): Decision<OrganizationEvent> {
        const present = watchedOf(organization, domain)
        // It was removed meanwhile, or added anew with another value.
        if (present?.value !== value) return { events: [], answer: undefined }
        return record === 'present'
          ? foundRecord(organizationId, present)
          : missedRecord(present, now, config.DOMAIN_LOST_AFTER * 1000)
      },
    })
  } catch (error) {
    // Another organization has verified it since this one lost it.
    if (!(error instanceof RosterError && error.reason === 'ORGANIZATION_DOMAIN_TAKEN')) throw error
  }
}

function watchedOf(
  organization: Pick<Aggregate<Organization>, 'state'> | undefined,
  domain: string,
): OrganizationDomain | undefined {
  return organization?.state?.domains?.find((one) => one.domain === domain && isWatched(one))
}
