import { expect, test } from 'vitest'
import { changedOf, merge } from './merge.ts'

const opened = { first: 'Ada', last: 'Byron', nick: '' }

test('only what differs from what was opened is sent', () => {
  expect(changedOf(opened, { first: 'Ada', last: 'Lovelace' })).toEqual({ last: 'Lovelace' })
})

test('what somebody else alone has changed is adopted, and what both have has to be chosen', () => {
  const theirs = { first: 'Augusta', last: 'King', nick: '' }
  expect(merge(opened, theirs, { last: 'Lovelace', nick: 'A' })).toEqual({
    adopted: ['first'],
    conflicts: [{ name: 'last', opened: 'Byron', theirs: 'King', yours: 'Lovelace' }],
    mine: { last: 'Lovelace', nick: 'A' },
  })
})

test('where both have changed a field to the same, there is nothing to choose and nothing to send', () => {
  expect(merge(opened, { ...opened, last: 'Lovelace' }, { last: 'Lovelace' })).toEqual({
    adopted: [],
    conflicts: [],
    mine: {},
  })
})
