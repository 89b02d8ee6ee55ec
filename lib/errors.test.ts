import { expect, test } from 'vitest'
import { codes, invalid, RosterError, toRosterError } from './errors.ts'

test('the codes are those of gRPC', () => {
  expect(Object.values(codes)).toEqual(Array.from({ length: 16 }, (_, index) => index + 1))
  expect(codes).toMatchObject({ INVALID_ARGUMENT: 3, NOT_FOUND: 5, INTERNAL: 13, UNAVAILABLE: 14, UNAUTHENTICATED: 16 })
})

test('a RosterError stays itself', () => {
  const error = new RosterError('NOT_FOUND', 'USER_NOT_FOUND', 'There is no such user.')
  expect(toRosterError(error)).toBe(error)
})

test.each([new Error('password=hunter2'), 'password=hunter2', undefined, null, 42, { code: 7, reason: 'FAKED' }])(
  'a foreign error becomes INTERNAL and shows nothing of itself: %s',
  (thrown) => {
    const { cause, ...shown } = toRosterError(thrown)
    expect(cause).toBe(thrown)
    expect(shown).toMatchObject({ code: 13, reason: 'INTERNAL', metadata: {}, violations: [], retryAfter: undefined })
    expect(toRosterError(thrown).message).toBe('An internal error occurred.')
  },
)

test('an invalid request names every faulty field, in the message too', () => {
  const violations = [
    { field: 'a', description: 'is empty' },
    { field: 'b[1]', description: 'is odd' },
  ]
  expect(invalid(violations)).toMatchObject({ code: 3, reason: 'VALIDATION_FAILED', violations })
  expect(invalid(violations).message).toBe('a: is empty; b[1]: is odd')
})
