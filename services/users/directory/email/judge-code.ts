import type { Keyring } from '#lib/encryption/keys'
import { type Code, isAlive } from '../events/code.ts'
import { deriveCode, matchesCode } from './code.ts'

export type Judgement = 'right' | 'wrong' | 'dead'

/** Compares a typed code with the code of a user. Takes the same work whether there is a user, or a living code. */
export function judgeCode(
  keys: Keyring,
  {
    userId,
    email = '',
    code,
    typed,
  }: { userId: string; email?: string | undefined; code?: Code | undefined; typed: string },
  now: Date,
): Judgement {
  const living = isAlive(code, now) ? code : undefined
  // A code that no user has.
  const known = living ?? { codeId: '', keyId: keys.currentId, expiresAt: '' }
  const isRight = matchesCode(typed, deriveCode(keys, known, userId, email))
  return living ? (isRight ? 'right' : 'wrong') : 'dead'
}
