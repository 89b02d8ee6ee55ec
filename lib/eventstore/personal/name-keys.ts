import { createHmac, type KeyObject } from 'node:crypto'

/**
 * The form in which a unique key with a name of a person is stored: a keyed hash. Its first letter names this form, so
 * that another one could be told from it.
 */
export function hashedKey(secret: KeyObject, kind: string, key: string): string {
  return `H${createHmac('sha256', secret).update(kind).update('/').update(key).digest('base64url')}`
}
