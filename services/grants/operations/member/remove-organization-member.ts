import type {
  RemoveOrganizationMemberRequest,
  RemoveOrganizationMemberResponse,
} from '#gen/roster/grants/v1/organization_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { removeMember } from '../../members/change-member.ts'

export function removeOrganizationMember(
  context: Context,
  { userId }: RemoveOrganizationMemberRequest,
  call: Call,
): Promise<RemoveOrganizationMemberResponse> {
  return removeMember(
    context,
    { place: { organizationId: call.organizationId }, userId, permission: 'org.member.delete' },
    call,
  )
}
