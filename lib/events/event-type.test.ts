import { expect, test } from 'vitest'
import { meansType, plainType } from './event-type.ts'

test.each(['user.email.changed', 'roster.user.email.changed.v1', 'roster.user.email.changed.v12'])(
  '%s is user.email.changed',
  (type) => expect(plainType(type)).toBe('user.email.changed'),
)

test.each([
  ['user.email.changed', true],
  ['roster.user.email.changed.v1', true],
  ['user.email.*', true],
  ['roster.user.*', true],
  ['*', true],
  ['user.email', false],
  ['user.email.changed.*', false],
  ['user.emai.*', false],
])('%s means user.email.changed: %s', (wanted, means) => expect(meansType(wanted, 'user.email.changed')).toBe(means))
