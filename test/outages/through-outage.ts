import { setTimeout as sleep } from 'node:timers/promises'
import { openInspection } from '../faults/inspect.ts'
import { acknowledged, type Load, startLoad } from '../faults/load.ts'
import { collectPost } from '../faults/post.ts'
import { startReaders } from '../faults/readers.ts'
import type { Running } from '../faults/running.ts'
import { settle } from '../faults/settle.ts'
import { type Foreign, startForeignConsumer } from '../support/foreign-consumer.ts'

/** What came of the writes before, during and after an outage. */
export interface Outcome {
  writes: number
  retries: number
  /** gRPC code and reason of each error answer, counted. */
  errors: Record<string, number>
  /** Seconds from the begin of the outage until sixty more writes are acknowledged. */
  seconds: number
  /** Events that the stream has twice, and those that a durable consumer of somebody else got twice. */
  repeated: { stream: number; foreign: number }
  /** Events that did not come to that consumer. */
  missed: string[]
  /** Everything else that is lost, doubled or in disorder. A repeated event of the stream is none. */
  violations: string[]
}

const writers = 6
const missedWithin = 90_000

/** Lets an outage come over a load of keyed writes, and compares what its clients were told with what is there. */
export async function throughOutage(
  running: Running,
  seed: number,
  outage: (load: Load, foreign: Foreign) => Promise<void>,
): Promise<Outcome> {
  const { url, adminToken: token, servers } = running
  const inspection = openInspection(servers)
  const post = collectPost(servers.mailbox!)
  const [readers, foreign] = await Promise.all([
    startReaders(running, inspection),
    startForeignConsumer(servers.natsUrl.admin, `foreign-${seed}`),
  ])
  try {
    const owners = await Promise.all(Array.from({ length: writers }, (_, writer) => settle(running, writer)))
    const load = startLoad({ urls: [url], token, seed, round: 1, writers: owners })
    await acknowledged(load, 40)
    const began = performance.now()
    await outage(load, foreign)
    await acknowledged(load, load.acknowledged + 60)
    const seconds = Math.round((performance.now() - began) / 100) / 10
    await load.stop()

    const stream = await inspection.stream()
    const isAgain = (sentence: string) => sentence.endsWith(' twice')
    const { webhook, follow } = await readers.check()
    const stored = await inspection.stored()
    const missing = () => stored.filter(({ id }) => !foreign.seen.has(id))
    for (const end = Date.now() + missedWithin; missing().length > 0 && Date.now() < end;) await sleep(200)
    return {
      writes: load.acknowledged,
      retries: load.retries,
      errors: Object.fromEntries(load.errors),
      seconds,
      repeated: { stream: stream.filter(isAgain).length, foreign: foreign.again() },
      missed: missing().map(({ id }) => id),
      violations: [
        ...load.wrong,
        ...(await inspection.writes(load.writes, `w${seed}-1-`)),
        ...(await inspection.sequences()),
        ...stream.filter((sentence) => !isAgain(sentence)),
        ...[...webhook, ...follow].map(({ sentence }) => sentence),
        ...(await post.check(inspection, url)).values(),
      ],
    }
  } finally {
    post.stop()
    await Promise.all([readers.stop(), foreign.stop()])
    await inspection.close()
  }
}
