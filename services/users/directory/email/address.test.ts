import { describe, expect, test } from 'vitest'
import { canonicalAddress, checkAddress, mailAddress, sameAddress } from './address.ts'
import { mailboxOf } from './mailbox.ts'

describe('these are one address, for comparisons and for limits:', () => {
  test.each([
    ['ada@example.com', 'ada@EXAMPLE.com'],
    ['ada@example.com', 'Ada@example.com'],
    ['a@münchen.de', 'a@xn--mnchen-3ya.de'],
    ['a@münchen.de', 'A@XN--MNCHEN-3YA.DE'],
    ['a@münchen.de', 'a@MU\u0308NCHEN.de'],
    ['a@faß.de', 'a@Faẞ.de'],
    ['a@faß.de', 'a@xn--fa-hia.de'],
    ['a@mail.点看.example', 'a@mail.xn--3pxu8k.example'],
  ])('%s and %s', (one, other) => {
    expect(sameAddress(one, other)).toBe(true)
    expect(mailboxOf(one)).toBe(mailboxOf(other))
    expect(mailAddress(one).toLowerCase()).toBe(mailAddress(other).toLowerCase())
  })
})

test.each([
  ['ada@example.com', 'ada@example.org'],
  ['ada@example.com', 'a.da@example.com'],
  ['ada@example.com', 'ada+1@example.com'],
  ['a@fass.de', 'a@faß.de'],
  ['a@3.example', 'a@0.0.0.3.example'],
  ['a@0x7f', 'a@127'],
  ['a@127.1', 'a@127.0.0.1'],
  ['xn--mnchen-3ya@example.com', 'münchen@example.com'],
])('%s and %s are two', (one, other) => expect(sameAddress(one, other)).toBe(false))

test.each([
  ['xn--mnchen-3ya.de', 'münchen.de'],
  ['@XN--mnchen-3ya', '@münchen'],
  ['MÜNCH', 'münch'],
  ['ada', 'ada'],
  ['7', '7'],
  ['50% ä_x', '50% ä_x'],
  ['xn--zzzzzz', 'xn--zzzzzz'],
])('the part %s is compared as %s', (part, canonical) => {
  expect(canonicalAddress(part)).toBe(canonical)
  expect(canonicalAddress(canonical)).toBe(canonical)
})

test('a number in any digits stays a number of the domain', () => {
  expect(mailAddress('a@１２７.example')).toBe('a@127.example')
  expect(canonicalAddress('a@１２７.example')).toBe('a@127.example')
})

test.each([
  'ada@example.com',
  "a.b-c_d+e!#$%&'*/=?^`{|}~@example.com",
  'A@LOCALHOST',
  'a@127.0.0.1',
  'a@münchen.de',
  'a@xn--mnchen-3ya.de',
  'a@点看.中国',
])('%s is an address', (address) => expect(checkAddress(address)).toEqual([]))

test.each([
  '.a@example.com',
  'a.@example.com',
  'a..b@example.com',
  'ä@example.com',
  '"a"@example.com',
  'a(b)@example.com',
  'a\\@example.com',
  'a@example.com.',
  'a@.example.com',
  'a@ex..com',
  'a@-example.com',
  'a@[127.0.0.1]',
  'a@exa\u00admple.com',
  'a@exam\u200bple.com',
  'a@ex。com',
  'a@exa_mple.com',
  'a@example.com\n',
  'a\n@example.com',
  `a@${'ü'.repeat(64)}.de`,
  `a@${`${'点看'.repeat(10)}.`.repeat(9)}de`,
])('%j is none', (address) => expect(checkAddress(address, 'x')).toMatchObject([{ field: 'x' }]))
