import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { serviceNames } from '../../deploy/local/service-environment.ts'
import { roster } from '../../lib/health/release.ts'
import { openInspection } from '../faults/inspect.ts'
import { type Load, replay, startLoad } from '../faults/load.ts'
import { collectPost } from '../faults/post.ts'
import { startReaders } from '../faults/readers.ts'
import { deadlineMs } from '../faults/running.ts'
import { settle } from '../faults/settle.ts'
import { runOperator } from '../support/operator.ts'
import { type Fleet, startFleet } from './fleet.ts'
import { checkOutFormerRelease, formerRelease, functionsOf } from './former-release.ts'

/** A stretch of the load: what the clients did while one service was replaced. */
export interface Stretch {
  name: string
  writes: number
  retries: number
  seconds: number
}

export interface Outcome {
  stretches: Stretch[]
  /** Attempts without an answer. */
  unanswered: number
  /** gRPC code and reason of each error answer, counted. */
  errors: Record<string, number>
  violations: string[]
  /** The versions that today's gateway reported while a former service ran. */
  mixed: Record<string, string[]>
}

const writers = 6
/** Writes while both releases of a service run, and again when the older one has ended. */
const writesBeside = 25
const repeated = 40

/**
 * Starts the former release and loads it. Replaces each service by today's under the load, then each by the former one
 * again. On the way back the order is the same: so each service meets older and newer ones of every other. At the end all
 * are of today once more, and `verify` looks.
 */
export async function rollOverAndBack(seed: number, say: (line: string) => void): Promise<Outcome> {
  const former = await checkOutFormerRelease()
  let fleet: Fleet | undefined
  try {
    fleet = await startFleet(former.folder)
    const outcome = await roll(fleet, seed, say)
    if (!isDeepStrictEqual(functionsOf(former.folder), formerRelease.functions.toSorted()))
      outcome.violations.push('package.json names other functions of the former release than it has')
    return outcome
  } finally {
    await fleet?.stop()
    await former.remove()
  }
}

async function roll(fleet: Fleet, seed: number, say: (line: string) => void): Promise<Outcome> {
  const { url, adminToken: token } = fleet
  const inspection = openInspection(fleet.servers)
  const post = collectPost(fleet.servers.mailbox!)
  const readers = await startReaders(fleet, inspection)
  try {
    const owners = await Promise.all(Array.from({ length: writers }, (_, writer) => settle(fleet, writer)))
    const load = startLoad({ urls: [url], token, seed, round: 1, writers: owners })
    const stretches: Stretch[] = []
    const during = async (name: string, work: () => Promise<void>) => {
      const [writes, retries, began] = [load.acknowledged, load.retries, performance.now()]
      await work()
      const seconds = (performance.now() - began) / 1000
      stretches.push({ name, writes: load.acknowledged - writes, retries: load.retries - retries, seconds })
      const { writes: done, retries: again } = stretches.at(-1)!
      say(`${name}: ${done} writes, ${again} retries, ${seconds.toFixed(1)} s`)
    }

    const { version } = formerRelease
    let mixed: Outcome['mixed'] = {}
    await during(`all ${version}`, () => more(load))
    for (const name of serviceNames)
      await during(`${name} to ${roster.version}`, async () => {
        await fleet.add(name, 'today')
        await more(load)
        await fleet.remove(name, 'former')
        await more(load)
      })
    const ofFormer = load.writes.filter(({ answer }, index) => answer !== undefined && index % repeated === 0)
    await during(`all ${roster.version}`, () => more(load))
    const replayed: string[] = []
    for (const write of ofFormer) replayed.push(...(await replay({ url, token }, write)))
    for (const name of serviceNames)
      await during(`${name} back to ${version}`, async () => {
        await fleet.add(name, 'former')
        await more(load)
        await fleet.remove(name, 'today')
        await more(load)
        if (name === 'users')
          mixed = ((await (await fetch(`${url}/readyz`)).json()) as { versions: typeof mixed }).versions
      })
    await during(`all ${version} again`, () => more(load))
    await load.stop()

    const again = load.writes.filter(
      ({ attempts, answer }, index) => answer !== undefined && (attempts > 1 || index % repeated === 1),
    )
    for (const write of again) replayed.push(...(await replay({ url, token }, write)))
    const { webhook, follow } = await readers.check()
    for (const name of serviceNames) {
      await fleet.add(name, 'today')
      await fleet.remove(name, 'former')
    }
    const violations = [
      ...(await differingRows(fleet)),
      ...load.wrong,
      ...replayed,
      ...(load.slowest > deadlineMs + 1000 ? [`a call took ${Math.round(load.slowest)} ms`] : []),
      ...(await inspection.writes(load.writes, `w${seed}-1-`)),
      ...(await inspection.sequences()),
      ...(await inspection.stream()),
      ...[...webhook, ...follow].map(({ sentence }) => sentence),
      ...(await post.check(inspection, url)).values(),
    ]
    return { stretches, unanswered: load.unanswered, errors: Object.fromEntries(load.errors), violations, mixed }
  } finally {
    post.stop()
    await readers.stop()
    await inspection.close()
  }
}

/** The lines of `verify`, once what it can heal by itself is healed. */
async function differingRows({ operatorSettings }: Fleet): Promise<string[]> {
  for (const end = Date.now() + 30_000; ; await sleep(1000)) {
    const { status, out, err } = await runOperator(['verify'], operatorSettings)
    if (status === 0) return []
    if (Date.now() > end) return `${out}\n${err}`.split('\n').filter((line) => line !== '')
  }
}

async function more(load: Load): Promise<void> {
  const wanted = load.acknowledged + writesBeside
  for (const end = Date.now() + 60_000; load.acknowledged < wanted; await sleep(20))
    if (Date.now() > end) throw new Error(`the load stands still: ${JSON.stringify([...load.errors])}`)
}
