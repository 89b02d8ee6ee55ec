import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { requireMayActOn } from '../directory/may-act-on.ts'
import type { Binding } from '../directory/secrets/one-time-codes.ts'
import type { MayAdd } from './factors/totp/set-up.ts'
import type { OwnSession } from './fresh-session.ts'

/** Who may change the second factors of a user: the user, and who covers the user's roles, as with the address. */
export function permitFactors(
  { userId }: { userId: string },
  call: Call,
  _holdsPermission: boolean,
  context: Context,
): Promise<void> {
  return requireMayActOn(context, userId, call)
}

/** Who may add one: a login application, too, which is asked for a session of the user. */
export async function permitAdding(
  request: { userId: string },
  call: Call,
  holdsPermission: boolean,
  context: Context,
): Promise<void> {
  if (holdsPermission || request.userId === call.caller.userId)
    return permitFactors(request, call, holdsPermission, context)
}

/** Who sets up an authenticator app by the API: this caller, and of a person this session. */
export function bindingOf(userId: string, { caller }: Pick<Call, 'caller'>): Binding {
  return { userId, purpose: JSON.stringify(['api', caller.userId, caller.sessionId]) }
}

/**
 * Whether people add a second factor by the own session: not where the mailbox alone has proved who they are. FAILED_PRECONDITION
 * FACTOR_NOT_AVAILABLE.
 */
export function mayAddBy(own: OwnSession | undefined): MayAdd {
  return (human) => {
    if (!own || own.hasSecond || !human.passwordByMail) return
    throw new RosterError(
      'FAILED_PRECONDITION',
      'FACTOR_NOT_AVAILABLE',
      'A mailed code has set the password, so the mailbox alone would add a factor. An administrator can add one, or set a password.',
    )
  }
}
