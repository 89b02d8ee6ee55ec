import type {
  RemoveProjectMemberRequest,
  RemoveProjectMemberResponse,
} from '#gen/roster/grants/v1/project_member_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { removeMember } from '../../members/change-member.ts'

export function removeProjectMember(
  context: Context,
  { projectId, userId }: RemoveProjectMemberRequest,
  call: Call,
): Promise<RemoveProjectMemberResponse> {
  return removeMember(
    context,
    { place: { organizationId: call.organizationId, projectId }, userId, permission: 'project.member.delete' },
    call,
  )
}
