import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { encryptionKey } from '#lib/encryption/keys'
import { purposes } from '../secrets/purposes.ts'
import { type CodePurpose, deriveCode, matchesCode, newCode } from './code.ts'

const key = randomBytes(32).toString('base64')
const keys = encryptionKey.read(key)
const now = new Date('2026-11-20T12:00:00Z')
const otherPurposes = Object.entries(purposes).flatMap(([purpose, { form }]) =>
  form === 'code' && purpose !== 'email-code' ? [purpose as CodePurpose] : [],
)
const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'

describe('a code', () => {
  const codeId = randomUUID()
  const facts = newCode(codeId, keys, 3600, now)
  const code = deriveCode(keys, facts, 'arthur', 'a@example.com')

  test('has six of the 32 symbols that are not mistaken for others', () => {
    expect(new Set(alphabet).size).toBe(32)
    for (let i = 0; i < 500; i++)
      expect(deriveCode(keys, newCode(randomUUID(), keys, 1, now), 'arthur', 'a@example.com')).toMatch(
        new RegExp(`^[${alphabet}]{6}$`),
      )
  })

  test('is the same at every derivation, also after the key was changed', () => {
    const rotated = encryptionKey.read(`${randomBytes(32).toString('base64')},${key}`)
    expect(deriveCode(keys, { ...facts }, 'arthur', 'a@example.com')).toBe(code)
    expect(deriveCode(rotated, facts, 'arthur', 'a@example.com')).toBe(code)
  })

  test('differs for another user, address, code id, purpose or installation', () => {
    const other = encryptionKey.read(randomBytes(32).toString('base64'))
    const codes = [
      code,
      deriveCode(keys, facts, 'guinevere', 'a@example.com'),
      deriveCode(keys, facts, 'arthur', 'b@example.com'),
      deriveCode(keys, newCode(randomUUID(), keys, 3600, now), 'arthur', 'a@example.com'),
      ...otherPurposes.map((purpose) => deriveCode(keys, facts, 'arthur', 'a@example.com', purpose)),
      deriveCode(other, { ...facts, keyId: other.currentId }, 'arthur', 'a@example.com'),
    ]
    expect(new Set(codes).size).toBe(codes.length)
  })

  test('cannot be derived once its key is gone', () => {
    const other = encryptionKey.read(randomBytes(32).toString('base64'))
    expect(() => deriveCode(other, facts, 'arthur', 'a@example.com')).toThrow('no encryption key')
  })

  test('is not part of its stored facts', () => {
    expect(facts).toEqual({ codeId, keyId: keys.currentId, expiresAt: '2026-11-20T13:00:00.000Z' })
    expect(JSON.stringify(facts).toUpperCase()).not.toContain(code)
  })
})

describe('guessing does not help:', () => {
  const rounds = 20_000
  const codes = Array.from({ length: rounds }, (_, i) =>
    deriveCode(keys, { codeId: String(i), keyId: keys.currentId, expiresAt: '' }, 'u', 'e'),
  )
  /** How far the sample is from equal likelihood of all kinds, in standard deviations, about. */
  function deviation(seen: string[], kinds: number): number {
    const counts = new Map<string, number>()
    for (const kind of seen) counts.set(kind, (counts.get(kind) ?? 0) + 1)
    const expected = seen.length / kinds
    const missing = (kinds - counts.size) * expected
    const chiSquared = [...counts.values()].reduce((sum, n) => sum + (n - expected) ** 2 / expected, missing)
    return (chiSquared - (kinds - 1)) / Math.sqrt(2 * (kinds - 1))
  }

  test.each([0, 1, 2, 3, 4, 5])('every symbol is as likely as every other at place %i', (place) => {
    expect(
      deviation(
        codes.map((code) => code[place]!),
        32,
      ),
    ).toBeLessThan(8)
  })

  test.each([0, 1, 2, 3, 4])('the symbol at place %i reveals nothing of the next one', (place) => {
    expect(
      deviation(
        codes.map((code) => code.slice(place, place + 2)),
        32 * 32,
      ),
    ).toBeLessThan(8)
  })
})

describe('a typed code', () => {
  test.each(['7KQ2MX', '7kq2mx', '7KQ-2MX', ' 7kq 2mx ', '7\tK\nQ2\u00a0MX', '--7KQ2MX'])(
    '"%s" matches 7KQ2MX',
    (typed) => {
      expect(matchesCode(typed, '7KQ2MX')).toBe(true)
    },
  )
  test.each(['', '7KQ2M', '7KQ2MXX', '7KQ2MY', 'MX7KQ2', '7KQ2MX\0', '７KQ2MX', '7KQ2M𝐗', '......'])(
    '"%s" does not match 7KQ2MX',
    (typed) => expect(matchesCode(typed, '7KQ2MX')).toBe(false),
  )
})
