import { expect, test } from 'vitest'
import { Positions } from './positions.ts'

test('the set has what was added, and no neighbour of it', () => {
  const positions = new Positions()
  const added = [0, 7, 8, 511, 512, 1_000_003, 2 ** 40, Number.MAX_SAFE_INTEGER - 1, -1, -512, -513]
  for (const position of added) positions.add(position)
  for (const position of added.flatMap((one) => [one - 1, one, one + 1]))
    expect(positions.has(position), String(position)).toBe(added.includes(position))
})
