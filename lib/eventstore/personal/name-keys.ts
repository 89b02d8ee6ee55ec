import { createHmac, type KeyObject } from 'node:crypto'
import type { Phase } from './phase.ts'

/** A unique key, without its scope. */
export interface NameKey {
  kind: string
  key: string
}

/**
 * The form in which a unique key with a name of a person is stored: a keyed hash. Its capital letter keeps it apart
 * from every plain key, because a canonical name has none.
 */
export function hashedKey(secret: KeyObject, kind: string, key: string): string {
  return `H${createHmac('sha256', secret).update(kind).update('/').update(key).digest('base64url')}`
}

/**
 * The forms that stand for a unique key. While earlier keys are hashed, each is held in both forms. So a replica that
 * does not know of it yet cannot take the name too.
 */
export function formsOf(phase: Phase, secret: KeyObject, { kind, key }: NameKey): string[] {
  if (phase === 'off') return [key]
  const hashed = hashedKey(secret, kind, key)
  return phase === 'begun' ? [key, hashed] : [hashed]
}
