import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { canRecover } from '../../../directory/email/can-recover.ts'
import type { User } from '../../../directory/events/user.ts'
import { mayStillActOn } from '../../../directory/may-act-on.ts'
import { isActive } from '../../../directory/states/user-state.ts'

/**
 * Whether the address of a user may get a code that signs in by itself, as it may get one for a forgotten password: it is
 * verified, and not changed of late. So the owner of the former address has time to take the change back. Pure.
 */
export function isTrustedAddress({ config }: Pick<Context, 'config'>, user: User | undefined, now: Date): boolean {
  const human = isActive(user) ? user?.human : undefined
  return human !== undefined && canRecover(human, config, now)
}

/** Whether who set the address, and who saw the code, cover the roles that the user has by now. UNAVAILABLE; errors of grants. */
export function isSetByCovering(
  context: Context,
  { userId, state }: { userId: string; state: User },
  call: Call,
  seenBy?: string,
): Promise<boolean> {
  return mayStillActOn(context, [state.human?.emailSetBy, seenBy], userId, call)
}
