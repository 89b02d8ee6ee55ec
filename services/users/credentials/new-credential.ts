import type { Violation } from '#lib/errors'
import { instance } from '#lib/instance'
import { coversRole } from '#lib/roles'
import { type Caller, holds } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { rolesCovered } from '../roles-covered.ts'

/**
 * Lets pass the user itself, and whose roles cover the user's: whoever has a credential can do what its user can, and whoever takes
 * one away ends what the user does. PERMISSION_DENIED; errors of the service that is asked.
 */
export async function permitCredential(
  { userId }: { userId: string },
  call: Call,
  _holdsPermission: boolean,
  context: Context,
): Promise<void> {
  const { caller } = call
  if (userId === caller.userId || coversRole(caller.instanceRoles, instance.administratorRole)) return
  await rolesCovered(context, userId, call)
}

/**
 * A credential ends in the future, if it ends. (That it is a time that can be told is a rule for every request.) One that is made with an access token ends no later than that: whoever finds the token
 * would else have for good what was given for hours.
 */
export function checkExpiry(
  { config }: Context,
  { userId, expirationDate }: { userId: string; expirationDate?: Date },
  { caller }: Call,
): Violation[] {
  const time = expirationDate?.getTime()
  if (time !== undefined && time <= Date.now())
    return [{ field: 'expirationDate', description: 'must be in the future' }]
  if (scopeToInherit(userId, caller) === undefined) return []
  // A gateway of an earlier version does not say when the token ends.
  const end = caller.tokenEnd ?? Date.now() + config.ACCESS_TOKEN_LIFETIME * 1000
  if (time !== undefined && time <= end) return []
  const at = new Date(end).toISOString()
  return [
    { field: 'expirationDate', description: `must be ${at} at the latest, when the access token of the call ends` },
  ]
}

/**
 * The scope of the access token that the caller makes a credential of this user with. Undefined where it needs none: the caller has
 * another kind of token, or may make credentials without being their user. The declared permission was checked before.
 */
export function scopeToInherit(userId: string, caller: Caller): string | undefined {
  const isSelf = userId === caller.userId && !holds(caller, 'user.credential.write', caller.organizationId)
  return isSelf ? caller.scope : undefined
}

/** The end of a credential as events have it. */
export function expiryOf(expirationDate: Date | undefined): { expiresAt?: string } {
  return expirationDate ? { expiresAt: expirationDate.toISOString() } : {}
}
