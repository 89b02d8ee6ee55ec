import { expect, test } from 'vitest'
import type { Checkpoint } from '#lib/eventstore/audit/checkpoint'
import {
  beginning,
  chain,
  checkpointOf,
  exportOf,
  found,
  lines,
  of,
  pageLines,
  signed,
  type Told,
} from './testing/true-export.ts'

test('a page or checkpoint of another epoch', async () => {
  const { pages, checkpoints } = chain('users')
  const { header, hash: digest } = pages[2]!
  const anew = chain('users', { ...beginning, epoch: 2, page: 3, hash: digest })
  const later = signed(checkpointOf(anew.pages[2]!, 3))
  const withLater = (...more: Told[]) => [...lines.slice(0, -1), ...more, lines.at(-1)!]
  // It makes the export look newer than what proves it.
  expect(await found(withLater(later))).toEqual([
    'checkpoint 3: it is of another epoch',
    'checkpoint 3: it signs no page of the export',
  ])
  expect(await found(withLater(...pageLines(anew), later))).toContainEqual('page 4: it is of another epoch')
  expect(await found(exportOf(anew).filter(({ kind }) => kind !== 'checkpoint').flatMap((line) => (line['kind'] === 'event' ? [] : [line])))).toContainEqual('page 6: no checkpoint signs it') // prettier-ignore
  const same = signed({ ...checkpoints[1]!, number: 3, epoch: 2, reason: 'sealed', page: 9, at: '2026-02-01' })
  expect(await found(withLater(same))).toContainEqual('checkpoint 3: it signs no page of the export')
  expect(header.page).toBe(3)
})

test('checkpoints that contradict each other, or that are told twice', async () => {
  const { checkpoints } = chain('users')
  const add = (checkpoint: Checkpoint) => [...lines.slice(0, -1), signed(checkpoint), lines.at(-1)!]
  expect(await found(add(checkpoints[0]!))).toEqual(['checkpoint 1: it is told twice'])
  expect(await found(add({ ...checkpoints[1]!, number: 3, hash: 'x' }))).toContainEqual(
    'checkpoint 3: its page does not come after that of one before it',
  )
  // Page 2 would lead to page 3, but what is signed of it differs.
  const wrong: Checkpoint = { ...checkpoints[0]!, number: 2, page: 2, events: 3, last: { transactionId: '103', position: '3' } } // prettier-ignore
  const some = lines.map((line) => (line === of('checkpoint')[1] ? signed({ ...checkpoints[1]!, number: 3 }) : line))
  expect(await found([...some.slice(0, -1), signed(wrong), some.at(-1)!])).toContainEqual('page 2: no checkpoint signs it') // prettier-ignore
})
