import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import type { Human } from '../../events/human.ts'
import type { User, UserEvent } from '../../events/user.ts'
import { requireMayActOn } from '../../may-act-on.ts'
import { existing } from '../../states/user-state.ts'

const kind = 'otp-email'

/** The user is asked for a code by mail from now on. */
export const addOTPEmail = operation((human) => {
  if (!human.isVerified)
    throw new RosterError('FAILED_PRECONDITION', 'EMAIL_NOT_VERIFIED', 'The address of the user is not verified.')
  if (human.secondFactors?.includes(kind))
    throw new RosterError('ALREADY_EXISTS', 'FACTOR_EXISTS', 'The user has this factor already.')
  return 'factor.added'
})

/** The user is asked for it no more, unless the login policy demands it. */
export const removeOTPEmail = operation((human) => {
  if (!human.secondFactors?.includes(kind))
    throw new RosterError('NOT_FOUND', 'FACTOR_NOT_FOUND', 'The user has no such factor.')
  return 'factor.removed'
})

function operation(decide: (human: Human) => 'factor.added' | 'factor.removed') {
  return {
    permit: ({ userId }: { userId: string }, call: Call, _holdsPermission: boolean, context: Context) =>
      requireMayActOn(context, userId, call),

    handle: ({ store }: Context, { userId }: { userId: string }, call: Call) =>
      store.execute({
        aggregate: { type: 'user', id: userId },
        call,
        decide({ state }: Aggregate<User>): Decision<UserEvent> {
          const { human } = existing(state)
          if (!human) throw new RosterError('FAILED_PRECONDITION', 'NOT_A_HUMAN', 'Only a human has second factors.')
          return { events: [{ type: decide(human), payload: { kind } }], answer: undefined }
        },
        respond: ({ after }) => ({ details: details(after) }),
      }),
  }
}
