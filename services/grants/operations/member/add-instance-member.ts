import type { AddInstanceMemberRequest, AddInstanceMemberResponse } from '#gen/roster/grants/v1/instance_service'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { addMember } from '../../members/add-member.ts'
import { whileReleased } from '../../members/keep-owner.ts'
import { permitRoles } from '../../members/own-roles.ts'
import { onInstance } from '../../members/place.ts'

export const addInstanceMember = {
  permit({ roles }: AddInstanceMemberRequest, call: Call): void {
    permitRoles(onInstance, roles, call)
  },

  async handle(
    context: Context,
    { userId, roles }: AddInstanceMemberRequest,
    call: Call,
  ): Promise<AddInstanceMemberResponse> {
    const add = () => addMember(context, { place: onInstance, userId, roles, permission: 'iam.member.write' }, call)
    if (!roles.includes(instance.administratorRole)) return add()
    // An unknown user leaves no trace in users.
    await context.users.lookupUser({ userId }, call)
    return whileReleased(context, { $case: 'userId', value: userId }, 'gets', call, add)
  },
}
