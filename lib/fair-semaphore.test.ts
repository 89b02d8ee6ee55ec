import { expect, test } from 'vitest'
import { setImmediate as tick } from 'node:timers/promises'
import { RosterError } from './errors.ts'
import { createFairSemaphore, type SemaphoreSize, type Place } from './fair-semaphore.ts'

const full = () => new RosterError('RESOURCE_EXHAUSTED', 'FULL', '')

/** A semaphore with work that ends on command, and the names of the work that began. */
function openSemaphore(atOnce: number, size: Partial<SemaphoreSize> = {}) {
  const through = createFairSemaphore({ atOnce, waiting: 100, ...size }, full)
  const begun: string[] = []
  const ends: (() => void)[] = []
  const outcomes: Promise<string>[] = []
  const enter = (name: string, place: Place) => {
    const work = () => {
      begun.push(name)
      return new Promise<void>((resolve) => ends.push(resolve))
    }
    const outcome = through(place, work).then(
      () => 'done',
      ({ reason }: RosterError) => reason,
    )
    outcomes.push(outcome)
    return outcome
  }
  const finish = async () => {
    await tick()
    while (ends.length > 0) {
      ends.shift()!()
      await tick()
    }
    return Promise.all(outcomes)
  }
  return { begun, enter, finish }
}

test('no more work than allowed runs at a time', async () => {
  const { begun, enter, finish } = openSemaphore(2)
  for (const name of ['a', 'b', 'c', 'd']) void enter(name, { lane: name })
  await tick()
  expect(begun).toEqual(['a', 'b'])
  expect(await finish()).toEqual(['done', 'done', 'done', 'done'])
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
})

test('lanes that ask equally often are served round robin, and a lane that asks less goes first', async () => {
  const { begun, enter, finish } = openSemaphore(1)
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2']) void enter(name, { lane: name[0]! })
  await finish()
  expect(begun).toEqual(['a1', 'c1', 'c2', 'a2', 'b1', 'a3', 'b2', 'b3'])
})

test('a lane has no more at once than one lane may, while others begin', async () => {
  const { begun, enter, finish } = openSemaphore(4, { ofOneLane: 2 })
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1']) void enter(name, { lane: name[0]! })
  await tick()
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  expect(await finish()).toEqual(Array.from({ length: 5 }, () => 'done'))
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
})

test('every second slot is for preferred work while some waits', async () => {
  const { begun, enter, finish } = openSemaphore(1)
  for (const name of ['a', 'b', 'c', 'd']) void enter(name, { lane: name })
  for (const name of ['X', 'Y']) void enter(name, { lane: name, preferred: true })
  await finish()
  expect(begun.slice(1, 5).filter((name) => 'XY'.includes(name))).toHaveLength(2)
  expect(begun).toHaveLength(6)
})

test('if too much waits, the longest lane loses its last entry', async () => {
  const { begun, enter, finish } = openSemaphore(1, { waiting: 3 })
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1']) void enter(name, { lane: name[0]! })
  const outcomes = await finish()
  expect(outcomes).toEqual(['done', 'done', 'FULL', 'FULL', 'done', 'done'])
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2'])
})

test('if too much waits, a lane that asks often gives way to a newcomer, and a preferred one to none', async () => {
  const { enter, finish } = openSemaphore(1, { waiting: 50 })
  void enter('first', { lane: 'first' })
  const preferred = ['P', 'Q'].map((name) => enter(name, { lane: name, preferred: true }))
  for (let n = 0; n < 200; n++) void enter(`n${n}`, { lane: `n${n % 60}` })
  const newcomers = ['X', 'Y'].map((name) => enter(name, { lane: name }))
  for (let n = 0; n < 100; n++) void enter(`n${n}`, { lane: `n${n % 60}` })
  const outcomes = await finish()
  for (const outcome of [...preferred, ...newcomers]) expect(await outcome).toBe('done')
  expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(51)
})

test('failed work makes room, and work past its deadline is not done', async () => {
  const through = createFairSemaphore({ atOnce: 1, waiting: 10 }, full)
  const failing = through({ lane: 'a' }, () => Promise.reject(new Error('broken')))
  const late = through({ lane: 'b', deadline: Date.now() - 1 }, () => Promise.resolve())
  const last = through({ lane: 'c' }, () => Promise.resolve('done'))
  await expect(failing).rejects.toThrow('broken')
  await expect(late).rejects.toMatchObject({ reason: 'DEADLINE_EXCEEDED' })
  expect(await last).toBe('done')
})
