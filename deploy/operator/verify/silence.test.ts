import { expect, onTestFinished, test, vi } from 'vitest'
import type { StoringService } from '../../provision.ts'
import { eachService } from './each-service.ts'
import type { Finding } from './finding.ts'
import { Silence, whileAlive } from './silence.ts'

const all: StoringService[] = ['users', 'grants', 'idp']

test('a service from which nothing comes is a finding, and the others are looked at', async () => {
  const found: Finding[] = []
  const looked: StoringService[] = []
  const never = Promise.withResolvers<void>()
  const later: unknown[] = []
  const look = async (service: StoringService, alive: () => void) => {
    if (service === 'users') {
      await never.promise
      try {
        alive()
      } catch (error) {
        later.push(error)
      }
    } else looked.push(service)
  }
  await eachService(all, 'events', look, async (more) => void found.push(...more), 10)
  expect(looked).toEqual(['grants', 'idp'])
  const problem = 'it was not read to its end: nothing came from it for 5 minutes'
  expect(found).toEqual([{ service: 'users', row: 'events', problem }])
  // What answers after all goes on no more.
  never.resolve()
  await expect.poll(() => later).toEqual([expect.any(Silence)])
})

test('a slow service has no other one wait', async () => {
  const found: Finding[] = []
  const others = Promise.withResolvers<void>()
  const look = async (service: StoringService) => {
    if (service === 'users') await others.promise
    if (service === 'idp') others.resolve()
  }
  await eachService(all, 'events', look, async (more) => void found.push(...more), 1000)
  expect(found).toEqual([])
})

test('a look that takes long is not ended while something comes', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const page = Promise.withResolvers<string>()
  let alive = () => {}
  const looked = whileAlive((sign) => {
    alive = sign
    return page.promise
  }, 1000)
  for (let i = 0; i < 5; i++) {
    vi.advanceTimersByTime(900)
    alive()
  }
  page.resolve('done')
  expect(await looked).toBe('done')
})
