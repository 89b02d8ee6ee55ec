// The load generator is a process of its own, so that its CPU time is counted separately. Its parent sends rounds and
// gets results.
import { openGrpcLines } from './grpc.ts'
import { type Line, openHttpLine } from './http.ts'
import type { Family } from './people.ts'
import { type Subjects, type WorkloadName, workloads } from './workloads.ts'

export interface Round {
  workload: WorkloadName
  encoding: 'json' | 'grpc' | 'connect'
  /** The connections take them one after the other. */
  urls: string[]
  token: string
  subjects: Subjects
  connections: number
  /** Seconds of warm-up without a measurement, and seconds with one. */
  warmUp: number
  seconds: number
}

export interface RoundResult {
  /** Answers within the measured seconds. */
  timed: number
  seconds: number
  p50: number
  p99: number
  /** All successes of the round. */
  acknowledged: number
  errors: string[]
}

process.on('message', (round: Round) => {
  run(round).then(
    (result) => process.send!(result),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
})
process.on('disconnect', () => process.exit(0))

// What the answers of former rounds left.
const families = new Map<string, Family[]>()

async function run(round: Round): Promise<RoundResult> {
  const left = families.get(round.urls[0]!) ?? round.subjects.families
  if (left) families.set(round.urls[0]!, (round.subjects.families = left))
  // A code of the last round may have expired by now.
  for (const family of left ?? []) family.code = ''
  const lines = await open(round)
  const begin = performance.now() + round.warmUp * 1000
  const end = begin + round.seconds * 1000
  const latencies: number[] = []
  const errors: string[] = []
  let acknowledged = 0
  let n = 0

  // A closed loop: the next request starts when the answer has come.
  async function drive({ ask }: Line) {
    for (let now = performance.now(); now < end && errors.length === 0;) {
      const sent = now
      try {
        await ask(n++)
        acknowledged++
      } catch (error) {
        errors.push(String(error))
      }
      now = performance.now()
      if (now >= begin && now < end) latencies.push(now - sent)
    }
  }

  await Promise.all(lines.map(drive))
  for (const line of lines) line.close()
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? NaN
  return { timed: latencies.length, seconds: round.seconds, p50: at(0.5), p99: at(0.99), acknowledged, errors }
}

async function open({ workload, encoding, urls, token, subjects, connections }: Round): Promise<Line[]> {
  if (encoding === 'grpc') return openGrpcLines(connections, urls, token, workloads[workload], subjects)
  const open = (_: unknown, index: number) =>
    openHttpLine(urls[index % urls.length]!, token, encoding, workloads[workload], subjects)
  return Promise.all(Array.from({ length: connections }, open))
}
