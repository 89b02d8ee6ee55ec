import { describe, expect, test } from 'vitest'
import { mailboxOf } from './mailbox.ts'

describe('these are one mailbox:', () => {
  test.each([
    ['ada@example.com', 'ada@EXAMPLE.com'],
    ['ada@example.com', 'Ada@example.com'],
    ['ada@example.com', 'ada@example.com.'],
    ['ada@example.com', 'ada+1@example.com'],
    ['ada@example.com', 'ada+one+two@example.com'],
    ['ada@example.com', '"ada"@example.com'],
    ['ada@example.com', 'ａｄａ@example.com'],
    ['ada@example.com', 'ada@example。com'],
    ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
    ['ada@bücher.example', 'ada@BU\u0308CHER.example'],
    ['adalovelace@gmail.com', 'a.d.a.lovelace+x@googlemail.com'],
  ])('%s and %s', (one, other) => expect(mailboxOf(other)).toBe(mailboxOf(one)))
})

describe('these are two:', () => {
  test.each([
    ['ada@example.com', 'ada@example.org'],
    ['ada@example.com', 'ada@mail.example.com'],
    ['ada@example.com', 'adb@example.com'],
    ['a.da@example.com', 'ada@example.com'],
    ['+ada@example.com', '+bob@example.com'],
  ])('%s and %s', (one, other) => expect(mailboxOf(other)).not.toBe(mailboxOf(one)))
})
