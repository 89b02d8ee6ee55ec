import { expect, test } from 'vitest'
import { isSent, type Place } from './is-sent.ts'

const goal = { generation: 4 }
const patience = { lookEvery: 1, silence: 60_000, all: 60_000 }

/** A service that tells these places, one at each look. */
function telling(next: (look: number) => Partial<Place>): () => Promise<Place> {
  let looks = 0
  return async () => ({ transactionId: '7', position: '0', generation: 5, isThere: false, ...next(looks++) })
}

test('a service that gets nearer is waited for, and all is sent once it is there', async () => {
  const nearer = telling((look) => ({ position: String(look), isThere: look === 100 }))
  expect(await isSent(nearer, goal, patience)).toBe(true)
})

test.each<[string, (look: number) => Partial<Place>]>([
  ['goes back and forth', (look) => ({ position: String(look % 10) })],
  ['goes back', (look) => ({ transactionId: String(1_000_000 - look) })],
  ['moves, but does not begin anew', (look) => ({ position: String(look), generation: 4, isThere: true })],
  ['begins anew again and again', (look) => ({ generation: 5 + look })],
])('a service that %s is not waited for', async (_, next) =>
  expect(await isSent(telling(next), goal, { ...patience, silence: 50 })).toBe(false),
)

test('a service that gets nearer for ever is waited for up to a bound', async () => {
  const nearer = telling((look) => ({ position: String(look) }))
  expect(await isSent(nearer, goal, { ...patience, all: 200 })).toBe(false)
})
