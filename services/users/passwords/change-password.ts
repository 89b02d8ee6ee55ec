import type { ObjectDetails } from '#gen/roster/object/v1/object'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { hashPassword } from '../sign-in/password.ts'
import { existing } from '../states/user-state.ts'
import { passwordOf, type User, type UserEvent } from '../vocabulary/user.ts'
import { passwordInvalid, proveCurrentPassword } from './current-password.ts'
import { storePassword } from './store-password.ts'

/** A change of a password. */
export interface PasswordChange {
  userId: string
  newPassword: string
  /** The present password, as proof, and the field of the request that holds it. */
  current?: { password: string; field: string } | undefined
}

/**
 * Changes the password of a human. The user's sessions end, except the one that the user calls with. NOT_FOUND
 * USER_NOT_FOUND, FAILED_PRECONDITION NOT_A_HUMAN, and the errors of `proveCurrentPassword`.
 */
export async function changePassword(
  context: Context,
  { userId, newPassword, current }: PasswordChange,
  call: Call,
): Promise<{ details: ObjectDetails }> {
  const found = await context.store.load<User>('user', userId)
  refuseMachine(found?.state)
  const proved = current && (await proveCurrentPassword(context, userId, current, call))
  const hash = await hashPassword(newPassword, { lane: call.caller.userId, deadline: call.deadline })
  const kept = call.caller.userId === userId ? call.caller.sessionId : ''
  return context.store.execute({
    aggregate: { type: 'user', id: userId },
    call,
    decide({ state }: Aggregate<User>): Decision<UserEvent> {
      refuseMachine(state)
      // Somebody may have changed it since the proof.
      if (current && passwordOf(state) !== proved) throw passwordInvalid(current.field)
      return {
        events: [{ type: 'password.changed', payload: {} }],
        writes: storePassword(userId, hash, kept),
        answer: undefined,
      }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}

function refuseMachine(user: User | undefined): void {
  if (!existing(user).human) throw new RosterError('FAILED_PRECONDITION', 'NOT_A_HUMAN', 'Only a human has a password.')
}
