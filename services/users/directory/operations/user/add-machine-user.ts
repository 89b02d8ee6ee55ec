import type { AddMachineUserRequest, AddMachineUserResponse } from '#gen/roster/users/v1/user_service'
import { details } from '#lib/eventstore/aggregate'
import type { Command, Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { v7 as uuid } from 'uuid'
import type { Context } from '../../../context.ts'
import { claimUserName, refuseTakenId } from '../../new-user.ts'
import { refuseRemovedOrganization } from '../../../../organization-status.ts'
import { type NewUserKeys, newUserReads } from './new-user-reads.ts'
import type { User, UserEvent } from '../../events/user.ts'

export async function addMachineUser(
  { store }: Context,
  request: AddMachineUserRequest,
  call: Call,
): Promise<AddMachineUserResponse> {
  return store.execute(createMachine(request, call))
}

export function createMachine(
  request: AddMachineUserRequest,
  call: Call,
): Command<User, UserEvent, void, AddMachineUserResponse, NewUserKeys> {
  const userId = request.userId ?? uuid()
  return {
    aggregate: { type: 'user', id: userId },
    creates: true,
    reads: newUserReads(userId, call.organizationId),
    call,
    decide(user, _now, { status, invitation }) {
      refuseRemovedOrganization(status)
      refuseTakenId(user, invitation)
      return decide(request, call.organizationId)
    },
    respond: ({ after }) => ({ userId: after.id, details: details(after) }),
  }
}

function decide(request: AddMachineUserRequest, organizationId: string): Decision<UserEvent> {
  const { userName, name, description, accessTokenType } = request
  return {
    organizationId,
    claims: [claimUserName(organizationId, userName)],
    events: [{ type: 'machine.added', payload: { userName, name, description, accessTokenType } }],
    answer: undefined,
  }
}
