import { RosterError } from '#lib/errors'
import type { Decision } from '#lib/eventstore/command'
import { keyKinds } from './vocabulary/key-kinds.ts'
import type { OrganizationEvent } from './vocabulary/organization.ts'

/** Adds an organization. One organization at most may have the domain. */
export function addedOrganization(id: string, name: string, primaryDomain: string): Decision<OrganizationEvent> {
  const taken = new RosterError('ALREADY_EXISTS', 'ORGANIZATION_DOMAIN_TAKEN', 'The primary domain is taken.')
  return {
    organizationId: id,
    claims: [{ kind: keyKinds.primaryDomain, scope: '', key: primaryDomain, taken }],
    events: [{ type: 'added', payload: { name, primaryDomain } }],
    answer: undefined,
  }
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
