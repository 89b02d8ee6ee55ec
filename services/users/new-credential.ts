import type { Violation } from '#lib/errors'
import { instance } from '#lib/instance'
import { coversRole } from '#lib/roles'
import type { Call } from '#lib/rpc/headers'
import type { Context } from './context.ts'
import { rolesCovered } from './roles-covered.ts'

// Of the last moment that RFC 3339 can tell.
const latest = Date.parse('9999-12-31T23:59:59.999Z')

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

/** A credential ends in the future, if it ends. */
export function checkExpiry(_context: Context, { expirationDate }: { expirationDate?: Date }): Violation[] {
  const time = expirationDate?.getTime()
  if (time === undefined || (time > Date.now() && time <= latest)) return []
  return [{ field: 'expirationDate', description: 'must be in the future, and before the year 10000' }]
}

/** The end of a credential as events have it. */
export function expiryOf(expirationDate: Date | undefined): { expiresAt?: string } {
  return expirationDate ? { expiresAt: expirationDate.toISOString() } : {}
}
