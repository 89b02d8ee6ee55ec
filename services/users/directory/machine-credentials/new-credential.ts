import type { Violation } from '#lib/errors'
import { orUnavailable, readNow } from '#lib/database/database'
import { instance } from '#lib/instance'
import { coversRole } from '#lib/rpc/roles'
import { type Caller, holds } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { requireRolesCovered } from '../may-act-on.ts'

/**
 * Permits the user itself, and a caller whose roles cover the user's. A credential lets its holder do what the user
 * can, and removing one ends what the user does. PERMISSION_DENIED; errors of grants.
 */
export async function permitCredential(
  { userId }: { userId: string },
  call: Call,
  _holdsPermission: boolean,
  context: Context,
): Promise<void> {
  const { caller } = call
  if (userId === caller.userId || coversRole(caller.instanceRoles, instance.administratorRole)) return
  await requireRolesCovered(context, userId, call)
}

/**
 * Checks that the end of a credential, if it has one, is in the future. A rule for every request checks the range of
 * times. A credential made with an access token must end no later than that token. Otherwise a thief of the token could
 * keep for good an access that was given for hours.
 */
export async function checkExpiry(
  { config, sql }: Context,
  { userId, expirationDate }: { userId: string; expirationDate?: Date | undefined },
  { caller }: Call,
): Promise<Violation[]> {
  const time = expirationDate?.getTime()
  const inherits = scopeToInherit(userId, caller) !== undefined
  if (time === undefined && !inherits) return []
  const now = (await orUnavailable(readNow(sql))).getTime()
  if (time !== undefined && time <= now) return [{ field: 'expirationDate', description: 'must be in the future' }]
  if (!inherits) return []
  // A gateway of an earlier version does not say when the token ends.
  const end = caller.tokenEnd ?? now + config.ACCESS_TOKEN_LIFETIME * 1000
  if (time !== undefined && time <= end) return []
  const at = new Date(end).toISOString()
  return [
    { field: 'expirationDate', description: `must be ${at} at the latest, when the access token of the call ends` },
  ]
}

/**
 * The scope of the access token with which the caller makes a credential for this user. Undefined where the credential
 * needs none: the caller has another kind of token, or may make credentials for other users. The declared permission
 * was checked before.
 */
export function scopeToInherit(userId: string, caller: Caller): string | undefined {
  const isSelf = userId === caller.userId && !holds(caller, 'user.credential.write', caller.organizationId)
  return isSelf ? caller.scope : undefined
}

/** The end of a credential in the form of events. */
export function expiryOf(expirationDate: Date | undefined): { expiresAt?: string } {
  return expirationDate ? { expiresAt: expirationDate.toISOString() } : {}
}
