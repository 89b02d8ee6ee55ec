import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { encryptionKey } from '#lib/encryption/keys'
import { purposes } from './purposes.ts'
import { makeSecret, readSecret, type SecretKind } from './secret.ts'

const [first, second] = [0, 1].map(() => randomBytes(32).toString('base64'))
const keys = encryptionKey.read(first!)
const kinds = Object.entries(purposes).flatMap(([purpose, { form }]) =>
  form === 'text' ? [purpose.replace('secret-', '') as SecretKind] : [],
)
const record = ['an-id', 'ä, "quoted"']

test.each(kinds.flatMap((made) => kinds.map((read) => [made, read] as const)))('a %s is read as a %s', (made, read) => {
  expect(readSecret(keys, read, makeSecret(keys, made, record))).toEqual(made === read ? record : undefined)
})

test('no changed text is read', () => {
  const text = makeSecret(keys, 'code', record)
  for (let at = 0; at < text.length; at++) {
    const changed = text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
    expect(readSecret(keys, 'code', changed)).toBeUndefined()
  }
  for (const other of ['', 'x', `${text}=`, `${text}A`, ` ${text}`, text.slice(0, 48), 'é'])
    expect(readSecret(keys, 'code', other)).toBeUndefined()
})

test('a text outlives a change of keys, and ends with its key', () => {
  const text = makeSecret(keys, 'code', record)
  expect(readSecret(encryptionKey.read(`${second!},${first!}`), 'code', text)).toEqual(record)
  expect(readSecret(encryptionKey.read(second!), 'code', text)).toBeUndefined()
})
