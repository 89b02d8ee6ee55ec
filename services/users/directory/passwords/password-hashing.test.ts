import { argon2Sync, randomBytes } from 'node:crypto'
import { expect, test, vi } from 'vitest'

const works: unknown[] = []
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>()
  const argon2 = (algorithm: string, parameters: object, done: never) => {
    const { message: _, nonce: __, ...work } = parameters as Record<string, unknown>
    works.push([algorithm, work])
    return crypto.argon2(algorithm as 'argon2id', parameters as never, done)
  }
  return { ...crypto, argon2 }
})
const { hashPassword, verifyPassword } = await import('./password-hashing.ts')

test('a password is stored as Argon2id in the PHC format, with a salt of its own', async () => {
  const [one, two] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')])
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  expect(one).not.toBe(two)
})

test('only the right password verifies', async () => {
  const hash = await hashPassword('correct horse')
  expect(await verifyPassword('correct horse', hash)).toBe(true)
  for (const wrong of ['', 'correct hors', 'correct horse ', 'Correct horse', hash])
    expect(await verifyPassword(wrong, hash)).toBe(false)
})

test('a password may be typed on another keyboard: ü is u with two dots', async () => {
  expect(await verifyPassword('u\u0308ber', await hashPassword('über'))).toBe(true)
})

test('a hash with other parameters, such as an imported one, is verified with its own', async () => {
  const nonce = randomBytes(16)
  const tag = argon2Sync('argon2id', { message: 'old', nonce, memory: 1024, passes: 3, parallelism: 2, tagLength: 24 })
  const encode = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
  const hash = `$argon2id$v=19$m=1024,t=3,p=2$${encode(nonce)}$${encode(tag)}`
  expect(await verifyPassword('old', hash)).toBe(true)
  expect(await verifyPassword('new', hash)).toBe(false)
})

test('without a hash, as for an unknown user, the same computation answers no', async () => {
  const hash = await hashPassword('correct horse')
  works.length = 0
  expect(await verifyPassword('correct horse', hash)).toBe(true)
  const known = works.splice(0)
  expect(await verifyPassword('correct horse', undefined)).toBe(false)
  expect(works.splice(0)).toEqual(known)
})

test.each(['', 'plain', '$2b$10$abc', '$argon2i$v=19$m=1024,t=3,p=2$AAAA$AAAA', '$argon2id$v=19$m=1024,t=3,p=2$$'])(
  'a malformed hash is an error, not a wrong password: %s',
  (hash) => expect(verifyPassword('x', hash)).rejects.toThrow('no Argon2id hash'),
)
