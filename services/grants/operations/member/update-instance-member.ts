import type { UpdateInstanceMemberRequest, UpdateInstanceMemberResponse } from '#gen/roster/grants/v1/instance_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { updateMember } from '../../members/change-member.ts'
import { keepOwner } from '../../members/keep-owner.ts'
import { permitRoles } from '../../members/own-roles.ts'
import { onInstance } from '../../members/place.ts'

export const updateInstanceMember = {
  permit({ roles }: UpdateInstanceMemberRequest, call: Call): void {
    permitRoles(onInstance, roles, call)
  },

  handle(
    context: Context,
    { userId, roles }: UpdateInstanceMemberRequest,
    call: Call,
  ): Promise<UpdateInstanceMemberResponse> {
    const update = { place: onInstance, userId, roles, permission: 'iam.member.write' }
    return keepOwner(context, update, call, (guard) => updateMember(context, update, call, guard))
  },
}
