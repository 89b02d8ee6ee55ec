import { expect, test } from 'vitest'
import { readHints, readMailWithoutEvent, writeHints } from './hints.ts'

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

test('a mail that is announced without a kind is that of a registration; another text announces none', () => {
  const mail = { userId: 'u', codeId: 'c', organizationId: 'o', expiresAt: '2030-01-01T00:00:00Z' }
  expect(readMailWithoutEvent(JSON.stringify(mail))).toEqual({ ...mail, kind: 'registration' })
  expect(readMailWithoutEvent(JSON.stringify({ ...mail, kind: 'otp-email', code: 'x' }))).toEqual({
    ...mail,
    kind: 'otp-email',
  })
  for (const other of [{ ...mail, codeId: 7 }, { ...mail, kind: null }, { userId: 'u' }, null])
    expect(readMailWithoutEvent(JSON.stringify(other))).toBeUndefined()
  expect(readMailWithoutEvent('{')).toBeUndefined()
})
