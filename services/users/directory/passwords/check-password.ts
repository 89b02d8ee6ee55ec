import type { ByFunction } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { isActive } from '../states/user-state.ts'
import { findKnown, rememberAddress } from '../rate-limits/known-addresses.ts'
import { countAttempt } from '../rate-limits/sign-in-attempts.ts'
import { networkOf } from '../rate-limits/token-buckets.ts'
import { recordLater } from './failures.ts'
import { findLoginUser } from '../login-names/meaning.ts'
import type { LoginUser } from '../login-names/login-user.ts'

/** A claim to be a user, with the password. */
export interface Attempted {
  loginName: string
  password: string
  /** Finds the user. Default: by the name. */
  find?: (() => Promise<LoginUser | undefined>) | undefined
}

/** A user whose password was right. */
export interface Proved {
  user: LoginUser
  takeBack(): Promise<void>
  /** Takes the attempt back with what the password opens. */
  takingBack: ByFunction
  /** Of the same password by the present parameters, where the stored one has others. */
  renewedHash: string | undefined
  /** Once the session exists. A failure is logged alone. */
  rememberAddress(): Promise<void>
}

/**
 * Checks a password, in the same way and time for every name. UNAUTHENTICATED CREDENTIALS_INVALID; RESOURCE_EXHAUSTED
 * SIGN_IN_THROTTLED, PASSWORDS_THROTTLED.
 */
export async function checkPassword(context: Context, attempted: Attempted, call: Call): Promise<Proved> {
  const { user, known, takeBack, takingBack, takeBackGuess } = await beginAttempt(context, attempted, call)
  // A user who may not sign in gets the same answer as a user without a password, after the same time.
  const hash = user && isActive(user.state) ? user.hash : null
  const place = {
    lane: networkOf(call.clientAddress) ?? call.clientAddress,
    preferred: known !== undefined,
    deadline: call.deadline,
  }
  const right = await context.passwordHashes.verify(attempted.password, hash, place).catch(async (error: unknown) => {
    await takeBackGuess()
    throw error
  })
  if (!right || !user) {
    recordLater(context, place.lane, user, call)
    throw credentialsInvalid()
  }
  return {
    user,
    takeBack,
    takingBack,
    // Who waits for it knew the password: only that is told.
    renewedHash: await context.passwordHashes.renew(attempted.password, hash!, place),
    rememberAddress: () =>
      rememberAddress(context, user.userId, call.clientAddress, known).catch((err: unknown) =>
        context.log.warn({ err }, 'work after a sign-in failed'),
      ),
  }
}

/** Finds the user of an attempt, and counts it. */
export async function beginAttempt(
  context: Context,
  { loginName, find }: Pick<Attempted, 'loginName' | 'find'>,
  call: Call,
) {
  const { clientAddress: address } = call
  const user = await (find ? find() : findLoginUser(context, loginName, call))
  const known = user && findKnown(context.keys, user.known, user.userId, address)
  const attempt = await countAttempt(context, {
    loginName,
    userId: user?.userId,
    address,
    isKnown: known !== undefined,
  }).catch((error: unknown) => {
    const isThrottled = error instanceof RosterError && error.reason === 'SIGN_IN_THROTTLED'
    if (isThrottled && user?.state.human) context.failureCounts.note(user.userId, 'throttled')
    throw error
  })
  return { user, known, ...attempt }
}

export function credentialsInvalid(): RosterError {
  return new RosterError('UNAUTHENTICATED', 'CREDENTIALS_INVALID', 'The login name or the password is wrong.')
}
