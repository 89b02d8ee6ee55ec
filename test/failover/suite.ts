import { setTimeout as sleep } from 'node:timers/promises'
import { openInspection, type Inspection } from '../faults/inspect.ts'
import { type Load, replay, startLoad } from '../faults/load.ts'
import { collectPost } from '../faults/post.ts'
import { type Readers, startReaders } from '../faults/readers.ts'
import { settle } from '../faults/settle.ts'
import type { Belongings } from '../faults/writes.ts'
import { priceOfReplication, type Price } from './price.ts'
import { type Redundant, startRedundant } from './redundant.ts'
import type { Trouble } from './troubles.ts'

const writers = 6
/** Writes before a trouble, after something took over, and after everything is whole again. */
const before = 40
const after = 60
const patience = 180_000

/** What a trouble did. */
export interface Result {
  name: string
  writes: number
  /** Seconds until the other servers had taken over. */
  takeover: number
  /** Seconds between two acknowledged writes, at most. */
  gap: number
  /** Seconds from the first attempt of a write to its answer, at most. */
  slowest: number
  lost: number
  doubled: number
  /** Faults of the stream. */
  stream: number
  sentences: string[]
}

export interface Results {
  results: Result[]
  /** Undefined where it was not measured. */
  price: Price | undefined
  /** What was wrong for the readers of events: the webhook, the followers of the API, and the mailbox. */
  readers: string[]
}

/** Begins the troubles one after the other, each under load. */
export async function runSuite(
  seed: number,
  troubles: Trouble[],
  { priced, say }: { priced: boolean; say: (line: string) => void },
): Promise<Results> {
  const roster = await startRedundant()
  const inspection = openInspection(roster.servers)
  const post = collectPost(roster.servers.mailbox!)
  let readers: Readers | undefined
  try {
    await roster.whole()
    const price = priced ? await priceOfReplication(roster) : undefined
    readers = await startReaders(roster, inspection)
    const owners = await Promise.all(Array.from({ length: writers }, (_, writer) => settle(roster, writer)))
    const results: Result[] = []
    for (const [number, trouble] of troubles.entries()) {
      const result = await perform({ roster, inspection, readers, owners, seed }, number, trouble)
      results.push(result)
      const { name, writes, takeover, gap, slowest, sentences } = result
      say(
        `${name}: taken over after ${takeover.toFixed(1)} s, ${writes} writes, ${gap.toFixed(1)} s without one, the slowest took ${slowest.toFixed(1)} s`,
      )
      for (const sentence of sentences) say(`  ${sentence}`)
    }
    const { webhook, follow } = await readers.check()
    const wrong = [...webhook, ...follow].map(({ sentence }) => sentence)
    return { results, price, readers: [...wrong, ...(await post.check(inspection, roster.url)).values()] }
  } finally {
    post.stop()
    await readers?.stop()
    await inspection.close()
    await roster.stop()
  }
}

interface Under {
  roster: Redundant
  inspection: Inspection
  readers: Readers
  owners: Belongings[]
  seed: number
}

async function perform(
  { roster, inspection, readers, owners, seed }: Under,
  round: number,
  trouble: Trouble,
): Promise<Result> {
  const { urls, adminToken: token } = roster
  const load = startLoad({ urls, token, seed, round, writers: owners })
  await acknowledged(load, before)
  const began = Date.now()
  const end = await trouble.begin(roster)
  const takeover = (Date.now() - began) / 1000
  await acknowledged(load, load.acknowledged + after)
  await end()
  await roster.whole()
  await acknowledged(load, load.acknowledged + after)
  await load.stop()

  const stored = await inspection.writes(load.writes, `w${seed}-${round}-`)
  const lost = stored.filter((sentence) => sentence.endsWith('is lost'))
  const doubled = stored.filter((sentence) => !lost.includes(sentence))
  const repeated = load.writes.filter(({ attempts, answer }) => attempts > 1 && answer !== undefined)
  const replayed: string[] = []
  for (const write of repeated) replayed.push(...(await replay({ url: roster.url, token }, write)))
  const stream = await inspection.stream()
  const others = [...replayed, ...(await inspection.sequences()), ...(await readers.caughtUp()), ...load.wrong]
  return {
    name: trouble.name,
    writes: load.acknowledged,
    takeover,
    gap: longestGap(load, began),
    slowest: Math.max(...load.writes.map((write) => (write.ended - write.began) / 1000)),
    lost: lost.length,
    doubled: doubled.length,
    stream: stream.length,
    sentences: [...stored, ...stream, ...others],
  }
}

// From the trouble on: before it, the load may still begin.
function longestGap({ writes }: Load, began: number): number {
  const times = writes.map(({ ended }) => ended).filter((time) => time > began && time < Infinity)
  const sorted = [began, ...times.toSorted((left, right) => left - right)]
  return Math.max(...sorted.slice(1).map((time, index) => time - sorted[index]!)) / 1000
}

async function acknowledged(load: Load, count: number) {
  for (const end = Date.now() + patience; load.acknowledged < count; await sleep(20))
    if (Date.now() > end)
      throw new Error(`only ${load.acknowledged} of ${count} writes: ${JSON.stringify([...load.errors])}`)
}
