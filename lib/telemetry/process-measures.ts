import { monitorEventLoopDelay } from 'node:perf_hooks'
import { counter, gauge } from './instruments.ts'
import { lookOften } from './look-often.ts'

/** Milliseconds of a timer that measures how late the loop is. At 20 it took half a percent of a processor at rest. */
const resolution = 50
/** Milliseconds of the event loop that a number speaks of. */
const span = 5000
const nanosecondsPerSecond = 1e9
const microsecondsPerSecond = 1e6

const p99 = gauge({
  name: 'nodejs.eventloop.delay.p99',
  unit: 's',
  description: 'how late the event loop runs: 99 of 100 times in the last five seconds it was less',
})
const max = gauge({
  name: 'nodejs.eventloop.delay.max',
  unit: 's',
  description: 'how late the event loop ran at the most in the last five seconds',
})
const utilization = gauge({
  name: 'nodejs.eventloop.utilization',
  unit: '1',
  description: 'the part of the last five seconds in which the event loop worked; 1: the process can do no more',
})
const cpu = counter({
  name: 'process.cpu.time',
  unit: 's',
  description: 'the CPU time of the process',
  labels: { 'cpu.mode': ['user', 'system'] },
})
const memory = gauge({
  name: 'process.memory.usage',
  unit: 'By',
  description: 'the physical memory of the process',
})

export function measureProcess(): void {
  const delays = monitorEventLoopDelay({ resolution })
  delays.enable()
  let [late, latest, busy] = [0, 0, 0]
  let before = performance.eventLoopUtilization()
  let used = { user: 0, system: 0 }
  lookOften(() => {
    late = secondsLate(delays.percentile(99))
    latest = secondsLate(delays.max)
    delays.reset()
    const now = performance.eventLoopUtilization()
    busy = performance.eventLoopUtilization(now, before).utilization
    before = now
    const { user, system } = process.cpuUsage()
    cpu.add((user - used.user) / microsecondsPerSecond, 'user')
    cpu.add((system - used.system) / microsecondsPerSecond, 'system')
    used = { user, system }
  }, span)
  p99.watch(() => late)
  max.watch(() => latest)
  utilization.watch(() => busy)
  memory.watch(() => process.memoryUsage.rss())
}

// Each measured delay includes the timer's own interval.
function secondsLate(nanoseconds: number): number {
  return Math.max(0, nanoseconds / nanosecondsPerSecond - resolution / 1000)
}
