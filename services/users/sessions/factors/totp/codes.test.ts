import { Secret, TOTP, URI } from 'otpauth'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { codeAt, newSecret, stepOf, toBase32, uriOf } from './codes.ts'

const bytes = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((array) => Buffer.from(array))
const times = fc.integer({ min: 0, max: 4_102_444_800_000 })
const byOther = (secret: Buffer) => new TOTP({ secret: new Secret({ buffer: new Uint8Array(secret).buffer }) })

test('a code is that of the RFC, and of a library that others wrote', () => {
  // RFC 6238, appendix B, the last six of its eight digits.
  const secret = Buffer.from('12345678901234567890')
  const table = {
    59: '287082',
    1111111109: '081804',
    1111111111: '050471',
    1234567890: '005924',
    20000000000: '353130',
  }
  for (const [seconds, code] of Object.entries(table)) expect(codeAt(secret, Math.floor(+seconds / 30))).toBe(code)
  fc.assert(
    fc.property(bytes, times, (own, timestamp) => {
      expect(codeAt(own, Math.floor(timestamp / 30_000))).toBe(byOther(own).generate({ timestamp }))
      expect(Buffer.from(Secret.fromBase32(toBase32(own)).bytes)).toEqual(own)
    }),
  )
})

test('a code counts in its half minute, in the one before and in the one after, and in no other', () => {
  fc.assert(
    fc.property(bytes, times, fc.integer({ min: -5, max: 5 }), (secret, at, shift) => {
      const now = new Date(at + 300_000)
      const step = Math.floor(now.getTime() / 30_000)
      const code = codeAt(secret, step + shift)
      const near = [step - 1, step, step + 1].filter((one) => codeAt(secret, one) === code)
      expect(stepOf(secret, code, now)).toBe(near.at(-1))
      if (Math.abs(shift) <= 1) expect(near).toContain(step + shift)
    }),
  )
  const [secret, now] = [newSecret(), new Date(1.8e12)]
  const code = codeAt(secret, Math.floor(now.getTime() / 30_000))
  expect(stepOf(secret, ` ${code.slice(0, 3)} ${code.slice(3)} `, now)).toBeDefined()
  for (const wrong of ['', '0', code.slice(1), `${code}0`, 'ABCDEF', '١٢٣٤٥٦'])
    expect(stepOf(secret, wrong, now)).toBeUndefined()
})

test.each([
  ['roster.example.com', 'ada'],
  ['[2001:db8::1]', 'ada@example.com'],
  ['h', 'Ada: & = ? # % / ü 🦊'],
])('an app reads the URI of %s and %s as it is meant', (issuer, account) => {
  const secret = newSecret()
  const read = URI.parse(uriOf(secret, { issuer, account })) as TOTP
  expect(read).toMatchObject({ issuer, label: account, algorithm: 'SHA1', digits: 6, period: 30 })
  expect(read.secret.base32).toBe(toBase32(secret))
})
