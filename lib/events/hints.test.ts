import { expect, test } from 'vitest'
import { readHints, writeHints } from './hints.ts'

const happened = (organization_id: string, type = 'email.changed') => ({
  organization_id,
  aggregate_type: 'user',
  type,
})

test.each(['acme', '', 'a b', 'a%20b', '\r\n', '🦊'])(
  'a hint at an event of the organization %j can be read again',
  (id) => {
    expect(readHints(writeHints([happened(id)]))).toEqual([{ organizationId: id, type: 'user.email.changed' }])
  },
)

test('each organization and type comes once', () => {
  expect(readHints(writeHints([happened('a'), happened('a'), happened('b'), happened('a', 'removed')]))).toHaveLength(3)
})

test.each(['', '{}', 'null', '[1]', '["%"]'])('what is no hint wakes no caller: %s', (text) =>
  expect(readHints(text)).toEqual([]),
)
