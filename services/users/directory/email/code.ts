import { timingSafeEqual } from 'node:crypto'
import type { Keyring } from '#lib/encryption/keys'
import type { NewCode } from '../events/code.ts'
import type { PurposesWith } from '../secrets/purposes.ts'

// 32 symbols: five bits make one symbol, and all are equally likely. No symbol looks like another.
const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
const length = 6

/** What a code proves. */
export type CodePurpose = PurposesWith<{ form: 'code' }>

/** The facts of a new code; `lifetime` in seconds. */
export function newCode(codeId: string, keys: Keyring, lifetime: number, now: Date): NewCode {
  return {
    codeId,
    keyId: keys.currentId,
    expiresAt: new Date(now.getTime() + lifetime * 1000).toISOString(),
  }
}

/** The code itself: six symbols, derived from the facts, the user and the address. It is stored nowhere. */
export function deriveCode(
  keys: Keyring,
  code: NewCode,
  userId: string,
  email: string,
  purpose: CodePurpose = 'email-code',
): string {
  const mac = keys.mac(purpose, code.keyId, [code.codeId, userId, email])
  const bits = mac.readUInt32BE(0)
  return Array.from({ length }, (_, index) => alphabet[(bits >>> (27 - 5 * index)) & 31]).join('')
}

/** Whether a typed code is this one, compared in constant time. Case, blanks and hyphens do not count. */
export function matchesCode(typed: string, code: string): boolean {
  const given = Buffer.from(typed.replace(/[\s-]/g, '').toUpperCase())
  const wanted = Buffer.from(code)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
