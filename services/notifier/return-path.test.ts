import { randomBytes, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { encryptionKey } from '#lib/encryption/keys'
import { openReturnPaths } from './return-path.ts'

const newKey = () => randomBytes(32).toString('base64')
const template = 'bounces+*@Example.com'
const key = newKey()
const paths = openReturnPaths(template, encryptionKey.read(key))
const localPart = (address: string) => address.split('@')[0]!

test.each([randomUUID(), '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'])(
  'the address of the mail %s names it, in any case, and is as short as SMTP wants it',
  (mailId) => {
    const address = paths.addressOf(mailId)!
    expect(localPart(address).length).toBeLessThanOrEqual(64)
    expect(paths.mailIn(`To: <${address.toUpperCase()}>`)).toBe(mailId)
    expect(paths.mailIn(`Delivered-To: x@example.org\nX-Original-To: ${address}\n`)).toBe(mailId)
  },
)

test('an address with another id, key or MAC names no mail', () => {
  const mailId = randomUUID()
  const address = paths.addressOf(mailId)!
  const others = Array.from({ length: 49 }, (_, at) => {
    const [place, letters] = ['bounces+'.length + at, [...address]]
    letters[place] = letters[place] === '1' ? '2' : '1'
    return letters.join('')
  })
  for (const other of others) expect([other, paths.mailIn(other)]).toEqual([other, undefined])
  expect(openReturnPaths(template, encryptionKey.read(newKey())).mailIn(address)).toBeUndefined()
  expect(paths.mailIn(address.replace('bounces+', 'sbounces+'))).toBeUndefined()
  expect(paths.mailIn(`${address}.example.org`)).toBeUndefined()
})

test('an address of before a change of the key is read as long as the former key is there', () => {
  const mailId = randomUUID()
  const next = newKey()
  const address = paths.addressOf(mailId)!
  expect(openReturnPaths(template, encryptionKey.read(`${next},${key}`)).mailIn(address)).toBe(mailId)
  expect(openReturnPaths(template, encryptionKey.read(next)).mailIn(address)).toBeUndefined()
})

test('an id that no mail has gets no address', () => {
  expect(paths.addressOf('x@y\r\nRCPT TO:<z@example.com>')).toBeUndefined()
})
