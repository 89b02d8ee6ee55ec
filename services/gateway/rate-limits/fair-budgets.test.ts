import { beforeEach, describe, expect, test } from 'vitest'
import { RosterError } from '#lib/errors'
import { createFairBudgets, type FairBudgets } from './fair-budgets.ts'

let now: number
let budgets: FairBudgets

beforeEach(() => {
  now = 5_000
})

/** Whether the call passes, or how many seconds it must wait. */
function take(userId: string, rate: number, organizationId = 'home', calls = 1): true | number {
  try {
    budgets.take(userId, rate, organizationId, now, calls)
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(RosterError)
    expect(error).toMatchObject({ code: 8, reason: 'RATE_LIMITED' })
    return (error as RosterError).retryAfter!
  }
}

/** How many calls a second of each caller pass while each tries `wanted` a second, after a quarter of a minute. */
function passing(wanted: Record<string, number>, rate: number) {
  const counts: Record<string, number> = {}
  for (let tick = 0; tick < 30_000; tick++) {
    now++
    for (const [userId, perSecond] of Object.entries(wanted)) {
      const due = Math.floor((tick * perSecond) / 1000) - Math.floor(((tick - 1) * perSecond) / 1000)
      for (let n = 0; n < due; n++)
        if (take(userId, rate) === true && tick >= 15_000) counts[userId] = (counts[userId] ?? 0) + 1
    }
  }
  return Object.fromEntries(Object.keys(wanted).map((userId) => [userId, (counts[userId] ?? 0) / 15]))
}

describe('a caller', () => {
  beforeEach(() => {
    budgets = createFairBudgets(2000)
  })

  test('may call ten seconds’ worth at once, and then at the rate', () => {
    expect(Array.from({ length: 200 }, () => take('one', 20))).toEqual(Array(200).fill(true))
    expect(take('one', 20)).toBe(1)
    expect(passing({ one: 1000 }, 20)['one']).toBeCloseTo(20, 0)
  })

  test('passes after the time that the refusal names', () => {
    while (take('one', 20) === true);
    for (let n = 0; n < 20; n++) {
      const seconds = take('one', 20) as number
      now += seconds * 1000
      expect(take('one', 20)).toBe(true)
      while (take('one', 20) === true);
    }
  })

  test('with a bulk pays for each item, all or none', () => {
    for (let n = 0; n < 5; n++) expect(take('one', 500, 'home', 900)).toBe(true)
    expect(take('one', 500, 'home', 900)).toBe(1)
    expect(take('one', 500, 'home', 500)).toBe(true)
    expect(take('one', 500)).toBeGreaterThan(0)
  })

  test('with a bulk of more than a quarter of its budget pays a quarter, so that it may come at all', () => {
    expect([1000, 1000, 1000, 1000, 51].map((calls) => take('one', 20, 'home', calls))).toEqual([
      true,
      true,
      true,
      true,
      3,
    ])
  })

  test('that loses a role waits no longer than one that never had it', () => {
    for (let n = 0; n < 5000; n++) take('one', 500)
    expect(take('one', 20)).toBe(1)
    now += 1000
    expect(take('one', 20)).toBe(true)
  })

  test('of another organization is not affected', () => {
    for (let n = 0; n < 50_000; n++) take(`greedy-${n % 100}`, 0)
    expect(take('newcomer', 500, 'away')).toBe(true)
    expect(passing({ newcomer: 400 }, 500)['newcomer']).toBeCloseTo(400, 0)
  })

  test('has no limit where the rate is 0', () => {
    budgets = createFairBudgets(0)
    expect(new Set(Array.from({ length: 100_000 }, () => take('one', 0)))).toEqual(new Set([true]))
  })
})

describe('the callers of an organization', () => {
  beforeEach(() => {
    budgets = createFairBudgets(200)
  })

  test('have no more than the organization’s rate together, whatever their number', () => {
    const all = passing(Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`caller-${n}`, 20])), 50)
    const rates = Object.values(all)
    expect(rates.reduce((sum, rate) => sum + rate)).toBeCloseTo(200, -1)
    expect(Math.min(...rates)).toBeGreaterThan(5)
  })

  test('that take less than their share get all of it, and the others divide the rest evenly', () => {
    const greedy = { g1: 500, g2: 500, g3: 500, g4: 500, g5: 500 }
    const { modest, small, ...rest } = passing({ ...greedy, modest: 25, small: 2 }, 100)
    expect([modest, small]).toEqual([25, 2].map((rate) => expect.closeTo(rate, 1)))
    for (const rate of Object.values(rest)) expect(rate).toBeCloseTo(173 / 5, -1)
  })

  test('that come when others have long filled its budget pass at once', () => {
    passing({ g1: 500, g2: 500, g3: 500, g4: 500, g5: 500 }, 100)
    for (let n = 0; n < 20; n++) expect(take(`newcomer-${n}`, 20)).toBe(true)
  })

  test('pay for the items of a bulk from the budget of the organization too', () => {
    expect([500, 500].map((calls) => take('bulk', 1000, 'home', calls))).toEqual([true, true])
    expect(take('bulk', 1000, 'home', 500)).toBeGreaterThan(0)
    expect(take('other', 1000, 'home', 900)).toBe(true)
    for (let n = 0; n < 20; n++) expect(take(`newcomer-${n}`, 20)).toBe(true)
  })

  test('pass after the time that the refusal names, also while the others go on', () => {
    const greedy = ['g1', 'g2', 'g3', 'g4']
    const fill = () => greedy.forEach((userId) => take(userId, 1000))
    while (greedy.some((userId) => take(userId, 1000) === true));
    for (let round = 0; round < 5; round++) {
      const seconds = take('g1', 1000) as number
      expect(seconds).toBeGreaterThan(0)
      for (let tick = 0; tick < seconds * 1000; tick++, now++) greedy.slice(1).forEach((userId) => take(userId, 1000))
      expect(take('g1', 1000)).toBe(true)
      for (let n = 0; n < 2000; n++) fill()
    }
  })
})
