import { Contradiction, type Fields, type Item, type Kind } from '../item.ts'
import { pick } from './fields.ts'

const projects = 'grants.v1.ProjectService'
const grants = 'grants.v1.UserGrantService'

export const projectGrant: Kind = {
  name: 'project grant',
  rank: 6,
  aggregate: 'project_grant',
  async read(gateway, item) {
    const { projectId, grantedOrgId } = item.ids
    const request = { projectId, grantedOrgId }
    const found = await gateway.all(`${projects}/SearchProjectGrants`, 'projectGrants', request, item.organization)
    const [grant] = found
    return (
      grant && sameId(item, grant['grantId']) && { grantId: grant['grantId'], roleKeys: grant['grantedRoleKeys'] ?? [] }
    )
  },
  add: ({ organization, ids, wanted }) => ({
    operation: `${projects}/AddProjectGrant`,
    request: { ...ids, ...wanted },
    organization,
  }),
  set: ({ organization, ids: { projectId } }, { roleKeys }, { grantId }) => [
    { operation: `${projects}/UpdateProjectGrant`, request: { projectId, grantId, roleKeys }, organization },
  ],
}

export const userGrant: Kind = {
  name: 'user grant',
  rank: 8,
  aggregate: 'user_grant',
  async read(gateway, item) {
    const { userId, projectId, projectGrantId = '' } = item.ids
    const request = { userId, projectId, projectGrantId }
    const found = await gateway.all(`${grants}/SearchUserGrants`, 'userGrants', request, item.organization)
    const grant = found.find((each) => (each['projectGrantId'] ?? '') === projectGrantId)
    return grant && sameId(item, grant['id']) && { grantId: grant['id'], roleKeys: grant['roleKeys'] ?? [] }
  },
  add: ({ organization, ids, wanted }) => ({
    operation: `${grants}/AddUserGrant`,
    request: { ...ids, ...wanted },
    organization,
  }),
  set: ({ organization, ids: { userId } }, { roleKeys }, { grantId }) => [
    { operation: `${grants}/UpdateUserGrant`, request: { userId, grantId, roleKeys }, organization },
  ],
}

// There is one grant for the two that it connects.
function sameId({ ids }: Item, id: unknown): true {
  const chosen = ids['grantId'] ?? ids['userGrantId']
  if (chosen !== undefined && chosen !== id) throw new Contradiction(`this grant has the id ${String(id)}`)
  return true
}

/** A role of Roster in an organization, in a project or on the instance. */
function member(place: 'Organization' | 'Project' | 'Instance'): Kind {
  const service = { Organization: 'OrganizationService', Project: 'ProjectMemberService', Instance: 'InstanceService' }
  const operation = (verb: string) => `grants.v1.${service[place]}/${verb}${place}Member`
  const write = (verb: string, { organization, ids }: Item, roles: Fields) => ({
    operation: operation(verb),
    request: { ...ids, ...roles },
    organization,
  })
  return {
    name: place === 'Instance' ? 'member of the instance' : `member of the ${place.toLowerCase()}`,
    rank: 7,
    async read(gateway, { organization, ids }) {
      const [found] = await gateway.all(`${operation('Search')}s`, 'members', ids, organization)
      return found && pick(found, ['roles'])
    },
    add: (item) => write('Add', item, item.wanted),
    set: (item, changed) => [write('Update', item, changed)],
  }
}

export const organizationMember = member('Organization')
export const projectMember = member('Project')
export const instanceMember = member('Instance')
