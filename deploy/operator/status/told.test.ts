import { expect, test } from 'vitest'
import { cutTold } from './told.ts'

test('what is small stays as it is', () => {
  const value = { at: new Date(0), list: [1, null, 'x'.repeat(200)], inner: { is: true, none: undefined } }
  expect(cutTold(value)).toEqual({ told: value, isCut: false })
})

test.each<[string, unknown]>([
  ['a text', 'x'.repeat(201)],
  ['a name', { ['x'.repeat(201)]: 1 }],
  ['a list', Array(101).fill(1)],
  ['a record', Object.fromEntries(Array.from({ length: 101 }, (_, index) => [index, 1]))],
])('%s that nobody reads to its end is cut, and that is told', (_, value) => {
  const { told, isCut } = cutTold([{ value }])
  expect(isCut).toBe(true)
  expect(JSON.stringify(told).length).toBeLessThan(JSON.stringify([{ value }]).length)
  expect(cutTold(told)).toEqual({ told, isCut: false })
})
