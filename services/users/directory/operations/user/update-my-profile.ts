import type { UpdateMyProfileRequest, UpdateMyProfileResponse } from '#gen/roster/users/v1/user_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { isDeepStrictEqual } from 'node:util'
import type { Context } from '../../../context.ts'
import { existing } from '../../states/user-state.ts'
import type { Profile } from '../../events/human.ts'
import type { User, UserEvent } from '../../events/user.ts'

export async function updateMyProfile(
  { store }: Context,
  profile: UpdateMyProfileRequest,
  call: Call,
): Promise<UpdateMyProfileResponse> {
  return store.execute({
    aggregate: { type: 'user', id: call.caller.userId },
    call,
    decide: (user: Aggregate<User>) => decide(user, profile),
    respond: ({ after }) => ({ details: details(after) }),
  })
}

function decide({ state }: Aggregate<User>, request: UpdateMyProfileRequest): Decision<UserEvent> {
  const user = existing(state)
  if (!user.human) throw new RosterError('FAILED_PRECONDITION', 'NOT_A_HUMAN', 'Only a human has a profile.')
  const profile: Profile = {
    firstName: request.firstName,
    lastName: request.lastName,
    ...(request.nickName !== undefined && { nickName: request.nickName }),
    displayName: request.displayName,
    preferredLanguage: request.preferredLanguage,
    gender: request.gender,
  }
  if (isDeepStrictEqual(profile, user.human.profile)) return { events: [], answer: undefined }
  return { events: [{ type: 'profile.changed', payload: profile }], answer: undefined }
}
