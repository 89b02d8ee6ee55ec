import { expect, test } from 'vitest'
import { subjectToken } from './subject.ts'

test.each(['gigi', 'a', 'A_b-9', '0198f3c2-7a51-7d3e-8f00-000000000001', 'x'.repeat(200)])(
  '%s stays as it is',
  (id) => {
    expect(subjectToken(id)).toBe(id)
  },
)

test.each([
  ['', '%'],
  ['a.b', 'a%2Eb'],
  ['*', '%2A'],
  ['>', '%3E'],
  ['a b', 'a%20b'],
  ['100%', '100%25'],
  ['%', '%25'],
  ['\r\nPUB x 0\r\n', '%0D%0APUB%20x%200%0D%0A'],
  ['é', '%C3%A9'],
  ['🦊', '%F0%9F%A6%8A'],
  ['\u0000', '%00'],
  ['$SYS', '%24SYS'],
])('%j is %s', (text, token) => expect(subjectToken(text)).toBe(token))

test('any text becomes one token that fits a line of NATS', () => {
  for (const text of ['.'.repeat(10_000), '🦊'.repeat(200), '\ud800', '\r\n'.repeat(150), 'x'.repeat(401)])
    expect(subjectToken(text)).toMatch(/^[\w%-]{1,400}$/)
})

test('two texts never have the same token', () => {
  const texts = ['', '%', '%25', 'a.b', 'a%2Eb', 'a', 'x'.repeat(401), 'x'.repeat(402), '.'.repeat(500), '\ufffd']
  expect(new Set(texts.map(subjectToken)).size).toBe(texts.length)
})
