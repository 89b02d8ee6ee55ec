import { expect, test } from 'vitest'
import { erasable } from '#lib/outbox/erase-in-stream'
import { partTypes } from './personal-data.ts'

test('the keeper of the stream erases all that is about a user, and nothing else', () => {
  expect(erasable).toEqual({ users: expect.any(Array) })
  expect(erasable['users']!.toSorted()).toEqual(partTypes.toSorted())
})
