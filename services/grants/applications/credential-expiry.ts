import { orUnavailable, readNow } from '#lib/database/database'
import type { Violation } from '#lib/errors'
import type { Context } from '../context.ts'

interface Expiring {
  expirationDate?: Date | undefined
}

/** The fault of a date that is not in the future. UNAVAILABLE. */
export async function checkExpiry({ sql }: Context, { expirationDate }: Expiring): Promise<Violation[]> {
  if (!expirationDate || expirationDate > (await orUnavailable(readNow(sql)))) return []
  return [{ field: 'expirationDate', description: 'must be in the future' }]
}

/** The end of a credential, as events say it. */
export function expiryOf({ expirationDate }: Expiring): { expiresAt?: string } {
  return expirationDate ? { expiresAt: expirationDate.toISOString() } : {}
}
