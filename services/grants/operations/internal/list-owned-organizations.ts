import type {
  ListOwnedOrganizationsRequest,
  ListOwnedOrganizationsResponse,
  OwnedOrganization,
} from '#gen/roster/grants/v1/internal_service'
import { orUnavailable } from '#lib/database/database'
import type { Context } from '../../context.ts'

export async function listOwnedOrganizations(
  { sql }: Context,
  { userId }: ListOwnedOrganizationsRequest,
): Promise<ListOwnedOrganizationsResponse> {
  const organizations = await orUnavailable(sql<OwnedOrganization[]>`
    select organization_id as "organizationId", array(
        select user_id from memberships other
        where other.organization_id = own.organization_id and other.project_id = '' and 'ORG_OWNER' = any(other.roles)
          and other.user_id <> own.user_id
        limit 100
      ) as "otherOwnerIds"
    from memberships own where user_id = ${userId} and project_id = '' and 'ORG_OWNER' = any(roles)
  `)
  return { organizations: [...organizations] }
}
