import type { Aggregate } from '#lib/eventstore/aggregate'
import type { UniqueKey } from '#lib/eventstore/command'
import { evolveHistory } from '#lib/eventstore/history'
import type { Vocabulary } from '#lib/eventstore/vocabulary'
import { clientKey } from './applications/own-application.ts'
import { memberKey, projectGrantKey, userGrantKey } from './holdings.ts'
import { keysOfOrganization } from './organizations/own-domain.ts'
import { project } from './projections.ts'
import type { Application } from './vocabulary/application.ts'
import { evolve } from './vocabulary/evolve.ts'
import { keyKinds } from './vocabulary/key-kinds.ts'
import type { Member } from './vocabulary/member.ts'
import type { Organization } from './vocabulary/organization.ts'
import type { ProjectGrant } from './vocabulary/project-grant.ts'
import type { UserGrant } from './vocabulary/user-grant.ts'

/** The service's knowledge of its aggregates. */
export const model: Vocabulary = {
  evolve: { ...evolve, history: evolveHistory },
  // 1: each secret, with its creation.
  folds: { application: 1 },
  project,
  projections: [
    {
      table: 'memberships',
      type: 'member',
      key: ['user_id', 'organization_id', 'project_id'],
      of: `a.state ->> 'userId' = v.user_id and a.organization_id = v.organization_id
        and coalesce(a.state ->> 'projectId', '') = v.project_id and not a.state ? 'removed'`,
    },
    { table: 'projects', type: 'project', key: ['project_id'] },
    { table: 'project_grants', type: 'project_grant', key: ['grant_id'] },
    { table: 'user_grants', type: 'user_grant', key: ['grant_id'] },
    {
      table: 'user_grant_roles',
      type: 'user_grant',
      key: ['project_id', 'role_key', 'organization_id', 'grant_id'],
      of: `a.id = v.grant_id and a.organization_id = v.organization_id and a.state ->> 'projectId' = v.project_id`,
    },
    { table: 'organizations', type: 'organization', key: ['organization_id'] },
    { table: 'applications', type: 'application', key: ['application_id'] },
  ],
  keys,
  keyKinds: {
    [keyKinds.primaryDomain]: 'organization',
    [keyKinds.verifiedDomain]: 'organization',
    [keyKinds.member]: 'member',
    [keyKinds.projectGrant]: 'project_grant',
    [keyKinds.userGrant]: 'user_grant',
    [keyKinds.client]: 'application',
  },
}

function keys({ type, organizationId, state }: Aggregate): UniqueKey[] {
  // A removed application keeps its client id, so that no other one gets it.
  if (type === 'application') return state ? [clientKey((state as Application).clientId)] : []
  if (!state || (state as { removed?: true }).removed) return []
  switch (type) {
    case 'organization':
      return keysOfOrganization(state as Organization)
    case 'member':
      return [memberKey(organizationId, state as Member)]
    case 'project_grant': {
      const { projectId, grantedOrganizationId } = state as ProjectGrant
      return [projectGrantKey(projectId, grantedOrganizationId)]
    }
    case 'user_grant':
      return [userGrantKey(organizationId, state as UserGrant)]
    default:
      return []
  }
}
