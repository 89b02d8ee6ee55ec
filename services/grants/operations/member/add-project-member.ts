import type { AddProjectMemberRequest, AddProjectMemberResponse } from '#gen/roster/grants/v1/project_member_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { addMember } from '../../members/add-member.ts'
import { permitRoles } from '../../members/own-roles.ts'

export const addProjectMember = {
  permit({ projectId, roles }: AddProjectMemberRequest, call: Call): void {
    permitRoles({ organizationId: call.organizationId, projectId }, roles, call)
  },

  handle(
    context: Context,
    { projectId, userId, roles }: AddProjectMemberRequest,
    call: Call,
  ): Promise<AddProjectMemberResponse> {
    return addMember(
      context,
      { place: { organizationId: call.organizationId, projectId }, userId, roles, permission: 'project.member.write' },
      call,
    )
  },
}
