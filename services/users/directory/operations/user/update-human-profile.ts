import { isDeepStrictEqual } from 'node:util'
import type { UpdateHumanProfileRequest, UpdateHumanProfileResponse } from '#gen/roster/users/v1/user_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { requireMayActOn } from '../../may-act-on.ts'
import { existing } from '../../states/user-state.ts'
import type { Profile } from '../../events/human.ts'
import type { User, UserEvent } from '../../events/user.ts'

export const updateHumanProfile = {
  permit: ({ userId }: UpdateHumanProfileRequest, call: Call, _holdsPermission: boolean, context: Context) =>
    requireMayActOn(context, userId, call),

  async handle(
    { store }: Context,
    request: UpdateHumanProfileRequest,
    call: Call,
  ): Promise<UpdateHumanProfileResponse> {
    return store.execute({
      aggregate: { type: 'user', id: request.userId },
      call,
      decide: (user: Aggregate<User>) => decide(user, request),
      respond: ({ after }) => ({ details: details(after) }),
    })
  },
}

function decide({ state }: Aggregate<User>, request: UpdateHumanProfileRequest): Decision<UserEvent> {
  const { human } = existing(state)
  if (!human) throw new RosterError('FAILED_PRECONDITION', 'NOT_A_HUMAN', 'Only a human has a profile.')
  const { nickName: before, ...names } = human.profile
  const nickName = request.nickName ?? before ?? ''
  const profile: Profile = {
    firstName: request.firstName ?? names.firstName,
    lastName: request.lastName ?? names.lastName,
    ...(nickName !== '' && { nickName }),
    displayName: request.displayName ?? names.displayName,
    preferredLanguage: request.preferredLanguage ?? names.preferredLanguage,
    gender: request.gender ?? names.gender,
  }
  if (isDeepStrictEqual(profile, human.profile)) return { events: [], answer: undefined }
  return { events: [{ type: 'profile.changed', payload: profile }], answer: undefined }
}
