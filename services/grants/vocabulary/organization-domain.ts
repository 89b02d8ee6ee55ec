/** What happens to the domains of an organization. The organization's stream has it. */
export type DomainEvent =
  | { type: 'domain.added'; payload: { domain: string; value: string } }
  /** `setOn`: without a look at DNS, by who has the permission on the instance. */
  | { type: 'domain.verified'; payload: { domain: string; setOn?: 'instance' } }
  | { type: 'domain.lost'; payload: { domain: string } }
  | { type: 'domain.found'; payload: { domain: string } }
  | { type: 'domain.unverified'; payload: { domain: string } }
  | { type: 'domain.removed'; payload: { domain: string } }

export interface OrganizationDomain {
  /** In lower case, in Punycode. */
  domain: string
  /** The text of the record that proves it. */
  value: string
  /** How it is verified. Missing: it is not, and has no effect. */
  verified?: 'dns' | 'instance' | undefined
  verifiedAt?: string | undefined
  /** Since when the record is missing that was there once. It ends with the trust, too. */
  lostAt?: string | undefined
}

const types = new Set<string>([
  'domain.added',
  'domain.verified',
  'domain.lost',
  'domain.found',
  'domain.unverified',
  'domain.removed',
] satisfies DomainEvent['type'][])

export function isDomainEvent(event: { type: string }): event is DomainEvent {
  return types.has(event.type)
}

/** The domains after an event. */
export function evolveDomains(
  domains: OrganizationDomain[],
  { type, payload }: DomainEvent,
  at: Date,
): OrganizationDomain[] {
  const change = (changed: (domain: OrganizationDomain) => OrganizationDomain) =>
    domains.map((one) => (one.domain === payload.domain ? changed(one) : one))
  const now = at.toISOString()
  switch (type) {
    case 'domain.added':
      return [...domains, payload]
    case 'domain.verified':
      return change(({ domain, value }) => ({ domain, value, verified: payload.setOn ?? 'dns', verifiedAt: now }))
    case 'domain.lost':
      return change((one) => ({ ...one, lostAt: now }))
    case 'domain.found':
      return change((one) => ({ ...one, lostAt: undefined }))
    case 'domain.unverified':
      return change((one) => ({ ...one, verified: undefined, verifiedAt: undefined }))
    case 'domain.removed':
      return domains.filter(({ domain }) => domain !== payload.domain)
  }
}

/** The names of those that are verified. A lost one is, until its trust ends. */
export function verifiedDomains(domains: OrganizationDomain[] = []): string[] {
  return domains.filter(({ verified }) => verified !== undefined).map(({ domain }) => domain)
}

/** Whether Roster looks for the record from time to time: it was there once, and is, or was, what the trust stands on. */
export function isWatched({ verified, lostAt }: OrganizationDomain): boolean {
  return verified === 'dns' || (verified === undefined && lostAt !== undefined)
}
