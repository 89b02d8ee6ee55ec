import { hkdfSync, type KeyObject } from 'node:crypto'
import { orUnavailable } from '#lib/database/database'
import { findKeys } from '#lib/encryption/personal'
import type { Context } from '../../context.ts'

/**
 * The key of a person, with which secrets of theirs are encrypted: it goes with the person's erasure, and a new encryption
 * key of the service only wraps it anew. Undefined where there is none any more. UNAVAILABLE STORE_UNAVAILABLE.
 */
export async function personalKey(
  { sql, personal }: Pick<Context, 'sql' | 'personal'>,
  userId: string,
): Promise<KeyObject | undefined> {
  return (await orUnavailable(findKeys(sql, personal, [userId]))).get(userId)
}

/** A key that is derived from that of a person, for one purpose alone. */
export function derivedKey(key: KeyObject, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key.export(), '', `roster ${purpose}`, 32))
}
