import type {
  AddOrganizationMemberRequest,
  AddOrganizationMemberResponse,
} from '#gen/roster/grants/v1/organization_service'
import { details } from '#lib/eventstore/aggregate'
import { coversRole } from '#lib/rpc/roles'
import { rolesIn } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { permissionDenied } from '#lib/rpc/authorize'
import { v7 as uuid } from 'uuid'
import type { Context } from '../../context.ts'
import { refuseRemoved, removalNote } from '../../holdings.ts'
import { addedMember } from '../../new-member.ts'

export const addOrganizationMember = {
  permit({ roles }: AddOrganizationMemberRequest, { caller, organizationId }: Call): void {
    const own = rolesIn(caller, organizationId)
    if (!roles.every((role) => coversRole(own, role))) throw permissionDenied()
  },

  async handle(
    { store, users }: Context,
    { userId, roles }: AddOrganizationMemberRequest,
    call: Call,
  ): Promise<AddOrganizationMemberResponse> {
    await users.lookupUser({ userId }, call)
    return store.execute({
      aggregate: { type: 'member', id: uuid() },
      reads: [removalNote(userId)],
      call,
      decide(_, _now, [note]) {
        refuseRemoved(note!)
        return addedMember(call.organizationId, { userId, roles })
      },
      respond: ({ after }) => ({ details: details(after) }),
    })
  },
}
