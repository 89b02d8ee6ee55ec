import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ServiceName, serviceNames } from '../../deploy/local/service-environment.ts'
import { acknowledged } from '../faults/load.ts'
import { callJson } from '../e2e/clients/json.ts'
import { type Running, startRunning } from '../faults/running.ts'
import { limitMemory, type MemoryLimit } from './memory-limit.ts'
import { throughOutage } from './through-outage.ts'

const mebibyte = 2 ** 20
const most = 256 * mebibyte
const groups = serviceNames.map((name) => [name, limitMemory(name, most)] as const)
const isAllowed = groups.every(([, group]) => group)
const limits = Object.fromEntries(groups) as Record<ServiceName, MemoryLimit>

describe.skipIf(!isAllowed)(
  `each service with 256 MiB of memory${isAllowed ? '' : ' (skipped: it needs root and control groups)'}`,
  () => {
    let running: Running
    beforeAll(async () => void (running = await startRunning({}, { under: (name) => limits[name].under })))
    afterAll(async () => {
      await running?.stop()
      for (const [, limit] of groups) limit?.remove()
    })

    test('does its work under load, and none is killed', async () => {
      const pids = serviceNames.map((name) => running.services.handles[name].pid)
      const outcome = await throughOutage(running, 1, async (load) => {
        await Promise.all([crowd(running, 64, 3000), acknowledged(load, load.acknowledged + 200)])
      })
      const peaks = serviceNames.map((name) => [name, Math.round(limits[name].peak() / mebibyte)])
      console.log('MiB at the most', JSON.stringify(Object.fromEntries(peaks)), JSON.stringify(outcome))
      expect(serviceNames.map((name) => [name, limits[name].kills()])).toEqual(serviceNames.map((name) => [name, 0]))
      expect(serviceNames.map((name) => running.services.handles[name].pid)).toEqual(pids)
      expect([...outcome.violations, ...outcome.missed]).toEqual([])
    })
  },
)

/** So many callers at a time, for so many calls in all: users with much text, and searches for a thousand of them. */
async function crowd({ url, adminToken: token }: Running, callers: number, calls: number): Promise<void> {
  let left = calls
  const call = async () => {
    while (left-- > 0) {
      const request = { userName: `crowd-${left}`, name: 'x'.repeat(100), description: 'y'.repeat(400) }
      await (left % 4 === 0
        ? callJson('SearchUsers', { limit: 1000 }, { url, token })
        : callJson('AddMachineUser', request, { url, token }))
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
}
