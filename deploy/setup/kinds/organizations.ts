import type { Kind } from '../item.ts'
import { objectIn, pick } from './fields.ts'

const service = 'grants.v1.OrganizationService'

export const organization: Kind = {
  name: 'organization',
  rank: 0,
  aggregate: 'organization',
  async read(gateway, { ids }) {
    const found = objectIn(await gateway.ask(`${service}/GetOrganization`, ids), 'organization')
    return found && pick(found, ['name'])
  },
  add: ({ ids, wanted }) => ({ operation: `${service}/AddOrganization`, request: { ...ids, ...wanted } }),
  set: ({ ids }, changed) => [
    { operation: `${service}/UpdateOrganization`, request: changed, organization: ids['orgId'] },
  ],
}

const policies = 'users.v1.LoginPolicyService'

/** Of an organization, or of the instance. It is always there. */
export const loginPolicy: Kind = {
  name: 'login policy',
  rank: 1,
  async read(gateway, { organization }) {
    const get = organization === undefined ? 'GetInstanceLoginPolicy' : 'GetLoginPolicy'
    return objectIn(await gateway.ask(`${policies}/${get}`, {}, organization), 'settings') ?? {}
  },
  // Of an organization that is made with it.
  add: ({ organization, wanted }) => update(organization, wanted),
  // The operation sets the policy as a whole.
  set: ({ organization }, changed, former) => [update(organization, { ...former, ...changed })],
}

function update(organization: string | undefined, settings: object) {
  const set = organization === undefined ? 'UpdateInstanceLoginPolicy' : 'UpdateLoginPolicy'
  return { operation: `${policies}/${set}`, request: { settings }, organization }
}
