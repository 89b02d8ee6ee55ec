import type { User as UserMessage } from '#gen/roster/users/v1/user'
import { details, type Existing } from '#lib/eventstore/aggregate'
import { existing, shownState } from '../states/user-state.ts'
import type { User } from '../events/user.ts'

/** The user as answers show it. NOT_FOUND USER_NOT_FOUND for a removed one. */
export function showUser(aggregate: Existing<User>): UserMessage {
  const { userName, human, machine } = existing(aggregate.state)
  return {
    userId: aggregate.id,
    details: details(aggregate),
    state: shownState(aggregate.state),
    userName,
    organizationId: aggregate.organizationId,
    type: human
      ? {
          $case: 'human',
          value: {
            profile: human.profile,
            email: { email: human.email, isVerified: human.isVerified },
            passwordChangeRequired: human.passwordMustChange === true,
          },
        }
      : machine && { $case: 'machine', value: { ...machine, dpopRequired: machine.dpopRequired ?? false } },
    factors: [],
  }
}
