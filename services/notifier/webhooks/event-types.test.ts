import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { eventTypes, isEventType, passes } from './event-types.ts'

test('the known types are exactly the published ones', () => {
  const document = readFileSync(new URL('../../../docs/events.md', import.meta.url), 'utf8')
  const published = [...document.matchAll(/^### `(roster\.\S+)`$/gm)].map(([, type]) => type!)
  expect(published.length).toBeGreaterThan(20)
  expect([...eventTypes].sort()).toEqual(published.sort())
})

test.each([
  'roster.user.*',
  'user.email.*',
  'roster.user_grant.*',
  '*',
  'roster.user.email.changed.v1',
  'user.email.changed',
])('%s may be asked for', (filter) => expect(isEventType(filter)).toBe(true))

test.each(['', 'user.email', 'roster.user', 'users.*', 'roster.user.grant.added.v1', 'user.*.changed'])(
  '%s may not, since nothing would ever come',
  (filter) => expect(isEventType(filter)).toBe(false),
)

test('a filter lets its own types pass; without a filter, every type passes', () => {
  expect(passes([], 'roster.user.email.changed.v1')).toBe(true)
  expect(passes(['roster.idp.*', 'roster.user.email.*'], 'roster.user.email.changed.v1')).toBe(true)
  expect(passes(['roster.user.*'], 'roster.user_grant.added.v1')).toBe(false)
})
