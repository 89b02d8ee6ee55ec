import { expect, test } from 'vitest'
import { countSecondRequests } from './ask-again.ts'

test('ten calls may be asked again at once, and then one of each hundred', () => {
  const budget = countSecondRequests()
  const taken = () => {
    let count = 0
    while (budget.take()) count++
    return count
  }
  expect(taken()).toBe(10)
  // Whole hundreds do not add up in doubles.
  for (const hundreds of [1, 3]) {
    for (let call = 0; call < hundreds * 100 + 1; call++) budget.earn()
    expect(taken()).toBe(hundreds)
  }
  for (let call = 0; call < 5000; call++) budget.earn()
  expect(taken()).toBe(10)
})
