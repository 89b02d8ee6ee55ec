import type {
  ListMembershipsRequest,
  ListMembershipsResponse,
  Membership,
} from '#gen/roster/grants/v1/internal_service'
import { orUnavailable } from '#lib/eventstore/database'
import { instance } from '#lib/instance'
import type { Context } from '../context.ts'

export async function listMemberships(
  { sql }: Context,
  { userId }: ListMembershipsRequest,
): Promise<ListMembershipsResponse> {
  const rows = await orUnavailable(sql<Membership[]>`
    select organization_id as "organizationId", roles from memberships where user_id = ${userId}
  `)
  return {
    instanceRoles: rows.find((row) => row.organizationId === instance.id)?.roles ?? [],
    memberships: rows.filter((row) => row.organizationId !== instance.id),
  }
}
