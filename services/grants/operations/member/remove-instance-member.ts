import type { RemoveInstanceMemberRequest, RemoveInstanceMemberResponse } from '#gen/roster/grants/v1/instance_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { removeMember } from '../../members/change-member.ts'
import { keepOwner } from '../../members/keep-owner.ts'
import { onInstance } from '../../members/place.ts'

export function removeInstanceMember(
  context: Context,
  { userId }: RemoveInstanceMemberRequest,
  call: Call,
): Promise<RemoveInstanceMemberResponse> {
  const removal = { place: onInstance, userId, permission: 'iam.member.delete' }
  return keepOwner(context, { userId, roles: [] }, call, (guard) => removeMember(context, removal, call, guard))
}
