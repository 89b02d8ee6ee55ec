import type {
  ListMembershipsRequest,
  ListMembershipsResponse,
  ProjectMembership,
} from '#gen/roster/grants/v1/internal_service'
import { orUnavailable } from '#lib/eventstore/database'
import { instance } from '#lib/instance'
import type { Context } from '../../context.ts'

export async function listMemberships(
  { sql }: Context,
  { userId }: ListMembershipsRequest,
): Promise<ListMembershipsResponse> {
  const rows = await orUnavailable(sql<ProjectMembership[]>`
    select organization_id as "organizationId", project_id as "projectId", roles from memberships
    where user_id = ${userId}
  `)
  const whole = rows.filter(({ projectId }) => projectId === '')
  return {
    instanceRoles: whole.find(({ organizationId }) => organizationId === instance.id)?.roles ?? [],
    memberships: whole.filter(({ organizationId }) => organizationId !== instance.id),
    projectMemberships: rows.filter(({ projectId }) => projectId !== ''),
  }
}
