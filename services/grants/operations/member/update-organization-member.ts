import type {
  UpdateOrganizationMemberRequest,
  UpdateOrganizationMemberResponse,
} from '#gen/roster/grants/v1/organization_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { updateMember } from '../../members/change-member.ts'
import { permitRoles } from '../../members/own-roles.ts'

export const updateOrganizationMember = {
  permit({ roles }: UpdateOrganizationMemberRequest, call: Call): void {
    permitRoles({ organizationId: call.organizationId }, roles, call)
  },

  handle(
    context: Context,
    { userId, roles }: UpdateOrganizationMemberRequest,
    call: Call,
  ): Promise<UpdateOrganizationMemberResponse> {
    return updateMember(
      context,
      { place: { organizationId: call.organizationId }, userId, roles, permission: 'org.member.write' },
      call,
    )
  },
}
