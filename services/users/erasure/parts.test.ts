import { expect, test } from 'vitest'
import { forgettable } from '#lib/events/erase-in-stream'
import { partTypes } from './parts.ts'

test('the keeper of the stream forgets all that tells of a user, and nothing else', () => {
  expect(forgettable).toEqual({ users: expect.any(Array) })
  expect(forgettable['users']!.toSorted()).toEqual(partTypes.toSorted())
})
