import { expect, test } from 'vitest'
import { each } from './each.ts'

const items = Array.from({ length: 100 }, (_, n) => n)
const tick = () => new Promise<void>((done) => setImmediate(done))

test('each item comes once, at most eight at a time', async () => {
  const seen: number[] = []
  let [now, most] = [0, 0]
  await each(items, async (item) => {
    most = Math.max(most, ++now)
    await tick()
    seen.push(item)
    now--
  })
  expect(seen.sort((one, other) => one - other)).toEqual(items)
  expect(most).toBe(8)
})

test('after a failure no further item is begun', async () => {
  let begun = 0
  const failing = each(items, async (item) => {
    begun++
    await tick()
    if (item === 3) throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  for (let n = 0; n < 20; n++) await tick()
  expect(begun).toBeLessThan(24)
})
