import { expect, test } from 'vitest'
import { sendBulk } from './send-bulk.ts'
import { Refusal, type Target } from './target.ts'

const bulk = { path: '/bulk', field: 'users' }

/** A Roster that answers each bulk with this function. */
function answering(answer: (items: any[]) => object) {
  const sent: any[][] = []
  const target: Target = {
    async ask(_verb, _path, body) {
      const { users } = body as { users: any[] }
      sent.push(users)
      return answer(users)
    },
  }
  return { target, sent }
}

const done = (items: any[]) => ({ results: items.map((_, index) => ({ index, done: {} })) })

test('items go in bulks that Roster takes, in their order', async () => {
  const items = Array.from({ length: 1200 }, (_, n) => ({ n, text: 'x'.repeat(n < 100 ? 20_000 : 10) }))
  const { target, sent } = answering(done)
  expect(await sendBulk(target, bulk, items, 'o')).toEqual(items.map(() => undefined))
  expect(sent.flat()).toEqual(items)
  for (const part of sent) {
    expect(part.length).toBeLessThanOrEqual(500)
    expect(JSON.stringify(part).length).toBeLessThan(1 << 20)
  }
})

test('many values of one item count, too', async () => {
  const items = Array.from({ length: 200 }, () => ({ roleKeys: Array.from({ length: 200 }, () => 'r') }))
  const { target, sent } = answering(done)
  await sendBulk(target, bulk, items, 'o')
  for (const part of sent) expect(part.length * 200).toBeLessThan(20_000)
})

test('each item has its own refusal, and one with faults does not hinder the others', async () => {
  const refusal = { code: 6, message: 'Taken.', details: [{ reason: 'USER_ID_TAKEN' }] }
  const { target } = answering((items) => {
    const faulty = items.findIndex(({ faulty }) => faulty)
    if (faulty < 0) return { results: items.map(({ taken }) => (taken ? { error: refusal } : { done: {} })) }
    const details = [
      { reason: 'VALIDATION_FAILED' },
      { fieldViolations: [{ field: `users[${faulty}].human`, description: 'is bad' }] },
    ]
    throw new Refusal({ code: 3, message: 'Faults.', details })
  })
  const items = [{}, { faulty: true }, { taken: true }, { faulty: true }, {}]
  const fault = (index: number) => `VALIDATION_FAILED: users[${index}].human is bad`
  const taken = 'USER_ID_TAKEN: Taken.'
  expect(await sendBulk(target, bulk, items, 'o')).toEqual([undefined, fault(1), taken, fault(2), undefined])
})

test('a refusal of the whole bulk is that of all its items', async () => {
  const { target } = answering(() => {
    throw new Refusal({ code: 7, message: 'No.', details: [{ reason: 'PERMISSION_DENIED' }] })
  })
  expect(await sendBulk(target, bulk, [{}, {}], 'o')).toEqual(['PERMISSION_DENIED: No.', 'PERMISSION_DENIED: No.'])
})
