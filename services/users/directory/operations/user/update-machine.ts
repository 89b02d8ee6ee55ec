import { isDeepStrictEqual } from 'node:util'
import type { UpdateMachineRequest, UpdateMachineResponse } from '#gen/roster/users/v1/user_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { requireMayActOn } from '../../may-act-on.ts'
import { existing } from '../../states/user-state.ts'
import type { User, UserEvent } from '../../events/user.ts'

export const updateMachine = {
  permit: ({ userId }: UpdateMachineRequest, call: Call, _holdsPermission: boolean, context: Context) =>
    requireMayActOn(context, userId, call),

  async handle({ store }: Context, request: UpdateMachineRequest, call: Call): Promise<UpdateMachineResponse> {
    return store.execute({
      aggregate: { type: 'user', id: request.userId },
      call,
      decide: (user: Aggregate<User>) => decide(user, request),
      respond: ({ after }) => ({ details: details(after) }),
    })
  },
}

function decide({ state }: Aggregate<User>, request: UpdateMachineRequest): Decision<UserEvent> {
  const { machine } = existing(state)
  if (!machine) throw new RosterError('FAILED_PRECONDITION', 'NOT_A_MACHINE', 'Only a machine has these settings.')
  const { name, description, accessTokenType } = machine
  const settings = {
    name: request.name ?? name,
    description: request.description ?? description,
    accessTokenType: request.accessTokenType ?? accessTokenType,
  }
  if (isDeepStrictEqual(settings, { name, description, accessTokenType })) return { events: [], answer: undefined }
  return { events: [{ type: 'machine.changed', payload: settings }], answer: undefined }
}
