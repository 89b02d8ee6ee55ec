import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isSalted } from './purposes.ts'

// What these hide is looked up by them. None is a secret, so a new salt leaves them.
const names = [
  'factor-guesses',
  'half-done network',
  'known-address',
  'mail-uses',
  'passkey-copies',
  'refused-uses',
  'request-address',
  'turns',
]

test('a new salt leaves what is looked up by a MAC', () => {
  expect([...names, 'constructor'].filter(isSalted)).toEqual([])
})

test('each MAC of users is that of a one-time secret of the table, or known to be none', () => {
  const users = new URL('../../', import.meta.url).pathname
  const files = globSync('**/*.ts', { cwd: users }).filter((file) => !/\.test\.ts$|testing\//.test(file))
  const found = files.flatMap((file) =>
    [...readFileSync(users + file, 'utf8').matchAll(/\.mac\(\s*([^,]*),/g)].map(([, purpose]) => ({ file, purpose })),
  )
  const literal = found.filter(({ purpose }) => purpose!.startsWith("'"))
  expect(literal.map(({ purpose }) => purpose!.slice(1, -1)).toSorted()).toEqual([...names, 'browser-value'].toSorted())
  // Their purposes have a type of the table; that of salt-codes.ts is its caller's.
  const others = new Set(found.filter((one) => !literal.includes(one)).map(({ file }) => file))
  expect([...others].toSorted()).toEqual([
    'directory/email/code.ts',
    'directory/email/salt-codes.ts',
    'directory/secrets/secret.ts',
  ])
})
