import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { decodeKey, encryptionKey, keyId, purposeKey } from './keys.ts'

const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
const old = encryptionKey.read(first)
const rotated = encryptionKey.read(`${second}, ${first}`)
const foreign = encryptionKey.read(second)

describe('an encrypted text', () => {
  const encrypted = old.encrypt('purpose', 'geheim — ünïcödé')

  test('can be decrypted, and does not show its text', () => {
    expect(old.decrypt('purpose', encrypted)).toBe('geheim — ünïcödé')
    expect(encrypted.includes('geheim')).toBe(false)
  })

  test('differs each time', () => expect(old.encrypt('purpose', 'x').equals(old.encrypt('purpose', 'x'))).toBe(false))
  test('may be empty', () => expect(old.decrypt('purpose', old.encrypt('purpose', ''))).toBe(''))
  test('does not open for another purpose', () => expect(() => old.decrypt('another', encrypted)).toThrow())
  test('can be decrypted after the key was changed', () =>
    expect(rotated.decrypt('purpose', encrypted)).toContain('geheim'))
  test('that is encrypted with the new key does not open with the old key alone', () =>
    expect(() => old.decrypt('purpose', rotated.encrypt('purpose', 'x'))).toThrow('no encryption key has the id'))
  test('does not open once its key is gone', () =>
    expect(() => foreign.decrypt('purpose', encrypted)).toThrow('no encryption key has the id'))

  test('does not open where any bit of it was changed', () => {
    for (let index = 0; index < encrypted.length; index++) {
      const changed = Buffer.from(encrypted)
      changed[index]! ^= 1
      expect(() => old.decrypt('purpose', changed)).toThrow()
    }
  })

  test('does not open where it was cut, not even with a shorter tag', () => {
    for (let length = 0; length < encrypted.length; length++)
      expect(() => old.decrypt('purpose', encrypted.subarray(0, length))).toThrow()
  })
})

describe('a mac', () => {
  const mac = (keys: typeof old, purpose: string, ...parts: string[]) =>
    keys.mac(purpose, old.currentId, parts).toString('hex')

  test('stays the same after the key was changed', () => {
    expect(mac(old, 'p', 'a', 'b')).toBe(mac(rotated, 'p', 'a', 'b'))
  })

  test('differs by purpose, by key, by each part, and by the place where a part ends', () => {
    const macs = [
      mac(old, 'p', 'a', 'b'),
      mac(old, 'q', 'a', 'b'),
      mac(old, 'p', 'ab'),
      mac(old, 'p', 'a', 'b', ''),
      mac(old, 'p', 'a","b'),
      rotated.mac('p', rotated.currentId, ['a', 'b']).toString('hex'),
    ]
    expect(new Set(macs).size).toBe(macs.length)
  })

  test('needs a known key', () => {
    expect(() => foreign.mac('p', old.currentId, ['a'])).toThrow('no encryption key has the id')
  })
})

describe('the derived key that replaces a former key for one purpose', () => {
  const former = decodeKey(first)
  const entry = (purpose: string) => `${keyId(former)}:${purpose}:${purposeKey(former, purpose).toString('base64')}`
  const ring = encryptionKey.read(`${second}, ${entry('p')}, ${entry('other')}`)

  test('decrypts texts that the former key encrypted for this purpose, and makes its macs', () => {
    expect(ring.decrypt('p', old.encrypt('p', 'x'))).toBe('x')
    expect(ring.mac('p', old.currentId, ['a'])).toEqual(old.mac('p', old.currentId, ['a']))
    expect(ring.currentId).toBe(foreign.currentId)
  })

  test('is useless for any other purpose', () => {
    expect(() => ring.decrypt('q', old.encrypt('q', 'x'))).toThrow('no encryption key has the id')
    expect(() => ring.decrypt('p', old.encrypt('other', 'x'))).toThrow()
  })

  test('cannot be the first key', () => {
    expect(() => encryptionKey.read(entry('p'))).toThrow(/^is not 32 bytes in base64/)
    expect(() => encryptionKey.read(`${second},${entry('p').slice(0, -8)}`)).toThrow(/^is not 32 bytes in base64/)
  })
})

test('the id of a key is the same everywhere and reveals nothing about the key', () => {
  expect(encryptionKey.read(first).currentId).toBe(old.currentId)
  expect(rotated.currentId).not.toBe(old.currentId)
  expect(Buffer.from(first, 'base64').includes(Buffer.from(old.currentId, 'hex'))).toBe(false)
})

test.each(['', 'x', randomBytes(31).toString('base64'), randomBytes(33).toString('base64'), `${first},`, `${first},x`])(
  'a text that is no key of 32 bytes is refused and not shown (%#)',
  (text) => {
    expect(() => encryptionKey.read(text)).toThrow(/^is not 32 bytes in base64/)
    if (text.length > 1) expect(() => encryptionKey.read(text)).not.toThrow(text)
  },
)
