import { RosterError } from '#lib/errors'
import type { Decision, UniqueKey } from '#lib/eventstore/command'
import { keyKinds } from '../vocabulary/key-kinds.ts'
import type { OrganizationEvent } from '../vocabulary/organization.ts'

/** Adds an organization. One organization at most may have the domain. */
export function addedOrganization(id: string, name: string, primaryDomain: string): Decision<OrganizationEvent> {
  return {
    organizationId: id,
    claims: [claimDomain(primaryDomain)],
    events: [{ type: 'added', payload: { name, primaryDomain } }],
    answer: undefined,
  }
}

export function domainKey(primaryDomain: string): UniqueKey {
  return { kind: keyKinds.primaryDomain, scope: '', key: primaryDomain }
}

/** Claims a primary domain, which one organization of the instance may have. */
export function claimDomain(primaryDomain: string): UniqueKey & { taken: RosterError } {
  const taken = new RosterError('ALREADY_EXISTS', 'ORGANIZATION_DOMAIN_TAKEN', 'The primary domain is taken.')
  return { ...domainKey(primaryDomain), taken }
}

/** The text after the @ in a login name: a slug of the organization's name under the host of the public URL. */
export function primaryDomain(name: string, publicUrl: string, suffix = ''): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 50)
    .replace(/-+$/, '')
  const label = [slug || 'org', suffix].filter(Boolean).join('-')
  return `${label}.${new URL(publicUrl).hostname}`
}
