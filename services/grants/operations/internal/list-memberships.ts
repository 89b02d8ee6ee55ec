import type {
  ListMembershipsRequest,
  ListMembershipsResponse,
  ProjectMembership,
} from '#gen/roster/grants/v1/internal_service'
import { orUnavailable } from '#lib/eventstore/database'
import { instance } from '#lib/instance'
import type { Context } from '../../context.ts'
import { isClosed, type Organization } from '../../vocabulary/organization.ts'

export async function listMemberships(
  { sql, store }: Context,
  { userId, organizationId: own, withInactive }: ListMembershipsRequest,
): Promise<ListMembershipsResponse> {
  const without = withInactive ? ['removed'] : ['inactive', 'removed']
  const [organization, rows] = await Promise.all([
    own === '' ? undefined : store.load<Organization>('organization', own),
    orUnavailable(sql<ProjectMembership[]>`
      select organization_id as "organizationId", project_id as "projectId", roles from memberships
      where user_id = ${userId} and not exists (
        select from aggregates o
        where o.type = 'organization' and o.id = memberships.organization_id and o.state ?| ${without}
      )
    `),
  ])
  const whole = rows.filter(({ projectId }) => projectId === '')
  return {
    instanceRoles: whole.find(({ organizationId }) => organizationId === instance.id)?.roles ?? [],
    memberships: whole.filter(({ organizationId }) => organizationId !== instance.id),
    projectMemberships: rows.filter(({ projectId }) => projectId !== ''),
    organizationClosed: organization !== undefined && isClosed(organization.state),
  }
}
