import { expect, test } from 'vitest'
import { idOfDigits } from './id-of-digits.ts'

test('an id has 18 digits, as Terraform imports them, and is no other one', () => {
  const ids = Array.from({ length: 10_000 }, idOfDigits)
  expect(ids.filter((id) => !/^[1-9]\d{17}$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(ids.length)
})
