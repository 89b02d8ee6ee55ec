import type {
  UpdateProjectMemberRequest,
  UpdateProjectMemberResponse,
} from '#gen/roster/grants/v1/project_member_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { updateMember } from '../../members/change-member.ts'
import { permitRoles } from '../../members/own-roles.ts'

export const updateProjectMember = {
  permit({ projectId, roles }: UpdateProjectMemberRequest, call: Call): void {
    permitRoles({ organizationId: call.organizationId, projectId }, roles, call)
  },

  handle(
    context: Context,
    { projectId, userId, roles }: UpdateProjectMemberRequest,
    call: Call,
  ): Promise<UpdateProjectMemberResponse> {
    return updateMember(
      context,
      { place: { organizationId: call.organizationId, projectId }, userId, roles, permission: 'project.member.write' },
      call,
    )
  },
}
