import { invalid } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { beginAttempt } from './check-password.ts'
import { recordLater } from './failures.ts'
import { findUserById } from '../login-names/login-user.ts'
import { networkOf } from '../rate-limits/token-buckets.ts'
import { passwordOf } from '../events/user.ts'

/**
 * Checks the present password of a user and returns its number. INVALID_ARGUMENT PASSWORD_INVALID, which counts like a
 * wrong sign-in: RESOURCE_EXHAUSTED SIGN_IN_THROTTLED. `field` holds the password.
 */
export async function proveCurrentPassword(
  context: Context,
  userId: string,
  { password, field }: { password: string; field: string },
  call: Call,
): Promise<number> {
  const { user, known, takeBack, takeBackGuess } = await countGuess(context, userId, call)
  const place = {
    lane: networkOf(call.clientAddress) ?? call.clientAddress,
    preferred: known !== undefined,
    deadline: call.deadline,
  }
  const right = await context.passwordHashes
    .verify(password, user?.hash ?? null, place)
    .catch(async (error: unknown) => {
      await takeBackGuess()
      throw error
    })
  if (!right) {
    recordLater(context, place.lane, user, call)
    throw passwordInvalid(field)
  }
  await takeBack()
  return passwordOf(user?.state)
}

/** Counts an attempt to name the password of a user as an attempt to sign in as this user. */
export async function countGuess(context: Context, userId: string, call: Call) {
  const user = await findUserById(context, userId)
  return beginAttempt(context, { loginName: user?.state.userName ?? userId, find: async () => user }, call)
}

/** The error for a password that is not the present one. */
export function passwordInvalid(field: string) {
  return invalid([{ field, description: 'is not the present password' }], 'PASSWORD_INVALID')
}
