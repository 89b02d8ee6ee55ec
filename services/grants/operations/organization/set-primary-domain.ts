import type { SetPrimaryDomainRequest, SetPrimaryDomainResponse } from '#gen/roster/grants/v1/organization_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { permissionDenied } from '#lib/rpc/authorize'
import { holds } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { isBesideFormer } from '#lib/schema/releases'
import type { Context } from '../../context.ts'
import { existingOrganization } from '../../organizations/active-organization.ts'
import { claimDomain, domainKey } from '../../organizations/new-organization.ts'
import { noForeignVerified } from '../../organizations/domain-elsewhere.ts'
import type { Organization, OrganizationEvent } from '../../vocabulary/organization.ts'

export const setPrimaryDomain = {
  // Nothing proves here that a domain belongs to the organization, so its own people choose among ours.
  permit({ domain }: SetPrimaryDomainRequest, { caller }: Call, _holds: boolean, { config }: Context): void {
    const [, rest] = domain.split(/\.(.*)/s)
    const ours = rest === new URL(config.PUBLIC_URL).hostname
    if (!ours && !holds(caller, 'org.write')) throw permissionDenied()
  },

  async handle(
    { store, sql }: Context,
    { domain }: SetPrimaryDomainRequest,
    call: Call,
  ): Promise<SetPrimaryDomainResponse> {
    // A replica of the former release could not publish it.
    const setOn = holds(call.caller, 'org.write') && !(await isBesideFormer(sql)) ? 'instance' : undefined
    return store.execute({
      aggregate: { type: 'organization', id: call.organizationId },
      call,
      decide(aggregate: Aggregate<Organization>): Decision<OrganizationEvent> {
        const { primaryDomain, ownedDomain } = existingOrganization(aggregate)
        const isNew = primaryDomain !== domain
        // Who may choose any domain confirms one that others chose.
        if (!isNew && (setOn === undefined || ownedDomain === domain)) return { events: [], answer: undefined }
        return {
          ...(isNew && {
            claims: [claimDomain(domain)],
            releases: [domainKey(primaryDomain)],
            guards: [noForeignVerified(domain, call.organizationId)],
          }),
          events: [{ type: 'domain.changed', payload: { primaryDomain: domain, ...(setOn && { setOn }) } }],
          answer: undefined,
        }
      },
      respond: ({ after }) => ({ details: details(after) }),
    })
  },
}
