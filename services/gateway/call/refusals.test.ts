import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Refusal } from '#gen/roster/grants/v1/internal_service'
import { createRefusals } from './refusals.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const refusal = (userId: string, requestId: string): Refusal => ({
  userId,
  requestId,
  organizationId: 'home',
  method: 'roster.users.v1.UserService.SetEmail',
  projectId: '',
  time: new Date(0),
})

function begin(fails = false) {
  const recorded: Refusal[][] = []
  const recordRefusals = ({ refusals }: { refusals: Refusal[] }) => {
    recorded.push(refusals)
    return fails ? Promise.reject(new Error('no service is there')) : Promise.resolve({})
  }
  return { recorded, refusals: createRefusals({ recordRefusals }) }
}

test('a flood of refused calls of one caller is recorded by its newest alone, a message a second, and hides no other', async () => {
  const { recorded, refusals } = begin()
  for (let n = 0; n < 100_000; n++) refusals.record(refusal('flooder', `flood-${n}`), 'home')
  refusals.record(refusal('other', 'one'), 'home')
  await vi.advanceTimersByTimeAsync(999)
  expect(recorded).toHaveLength(1)
  expect(recorded[0]).toHaveLength(11)
  expect(recorded[0]!.slice(0, 2)).toEqual([refusal('flooder', 'flood-99999'), refusal('other', 'one')])
  refusals.record(refusal('other', 'two'), 'home')
  await vi.advanceTimersByTimeAsync(1000)
  expect(recorded.slice(1)).toEqual([[refusal('other', 'two')]])
})

test('many callers are served round robin, and what waits is bounded', async () => {
  const { recorded, refusals } = begin()
  for (let user = 0; user < 5000; user++)
    for (let n = 0; n < 3; n++) refusals.record(refusal(`user-${user}`, `${n}`), 'home')
  await vi.advanceTimersByTimeAsync(60_000)
  expect(recorded.map((list) => list.length)).toEqual(Array.from({ length: 15 }, () => 200))
  const first = recorded.slice(0, 5).flat()
  expect(new Set(first.map(({ userId }) => userId)).size).toBe(1000)
  expect(new Set(first.map(({ requestId }) => requestId))).toEqual(new Set(['2']))
})

test('a thousand callers of one organization hold up no callers of others, and push out none', async () => {
  const { recorded, refusals } = begin()
  const flood = () => {
    for (let user = 0; user < 1500; user++) refusals.record(refusal(`flooder-${user}`, 'flood'), 'evil')
  }
  flood()
  for (const user of ['one', 'two']) refusals.record(refusal(user, 'call'), 'good')
  await vi.advanceTimersByTimeAsync(999)
  flood()
  refusals.record(refusal('three', 'call'), 'good')
  await vi.advanceTimersByTimeAsync(1000)
  const others = recorded.map((list) => list.map(({ userId }) => userId).filter((id) => !id.startsWith('flooder')))
  expect(others).toEqual([['one', 'two'], ['three']])
  expect(recorded.map((list) => list.length)).toEqual([200, 200])
})

test('what grants does not take is lost, and later calls are recorded all the same', async () => {
  const { recorded, refusals } = begin(true)
  refusals.record(refusal('user', 'one'), 'home')
  await vi.advanceTimersByTimeAsync(1000)
  refusals.record(refusal('user', 'two'), 'home')
  await vi.advanceTimersByTimeAsync(1000)
  expect(recorded).toEqual([[refusal('user', 'one')], [refusal('user', 'two')]])
})
