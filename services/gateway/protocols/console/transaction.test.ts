import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { beginTransaction, newSecret, openTransaction } from './transaction.ts'

const secret = newSecret()
const now = Date.parse('2026-11-29T12:00:00Z')
const begun = beginTransaction(secret, { to: '/ui/console/x', again: false }, now)
const minutes = (many: number) => now + many * 60_000

test('a sign-in to the console is opened with its secret within ten minutes, and not after them', () => {
  const opened = openTransaction(secret, begun.state, minutes(10))
  expect(opened).toMatchObject({ to: '/ui/console/x', again: false, nonce: begun.nonce, verifier: begun.verifier })
  expect(createHash('sha256').update(begun.verifier).digest('base64url')).toBe(begun.challenge)
  expect(openTransaction(secret, begun.state, minutes(10) + 1000)).toBeUndefined()
})

test('no other secret opens it, and nobody without it changes where it leads', () => {
  const [text, mac] = begun.state.split('.') as [string, string]
  const led = Buffer.from(Buffer.from(text, 'base64url').toString().replace('/x', '/y')).toString('base64url')
  for (const [by, state] of [
    [newSecret(), begun.state],
    [secret, `${led}.${mac}`],
    [secret, `${text}.`],
    [secret, text],
    [secret, ''],
    [secret, `${text}.${mac}x`],
  ] as const)
    expect(openTransaction(by, state, now)).toBeUndefined()
})

test('no two sign-ins of a browser are alike', () => {
  const other = beginTransaction(secret, { to: '/ui/console/x', again: false }, now)
  for (const part of ['state', 'nonce', 'verifier'] as const) expect(other[part]).not.toBe(begun[part])
})
