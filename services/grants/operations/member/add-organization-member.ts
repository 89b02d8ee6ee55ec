import type {
  AddOrganizationMemberRequest,
  AddOrganizationMemberResponse,
} from '#gen/roster/grants/v1/organization_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { addMember } from '../../members/add-member.ts'
import { permitRoles } from '../../members/own-roles.ts'

export const addOrganizationMember = {
  permit({ roles }: AddOrganizationMemberRequest, call: Call): void {
    permitRoles({ organizationId: call.organizationId }, roles, call)
  },

  handle(
    context: Context,
    { userId, roles }: AddOrganizationMemberRequest,
    call: Call,
  ): Promise<AddOrganizationMemberResponse> {
    return addMember(
      context,
      { place: { organizationId: call.organizationId }, userId, roles, permission: 'org.member.write' },
      call,
    )
  },
}
