import { setTimeout as sleep } from 'node:timers/promises'
import { lookForUser } from '../../operator/erasure/look-for-user.ts'
import { openSystem, type System } from '../../operator/system.ts'
import type { Inspection } from './inspect.ts'
import type { Left } from './leavers.ts'
import type { Running } from './running.ts'

const erasedWithin = 60_000

/**
 * Waits until nothing can be read of them. Returns the places where something still can. `except`: stores of the
 * command `erasure-report` that may take longer.
 */
export async function checkLeft(
  { operator }: Running,
  inspection: Inspection,
  left: Left[],
  except: string[] = [],
): Promise<string[]> {
  const system = openSystem(operator)
  try {
    const wrong: string[] = []
    const end = Date.now() + erasedWithin
    for (const leaver of left)
      for (; ; await sleep(300)) {
        const readable = [...(await inspection.readable(leaver)), ...(await readableStores(system, leaver))]
        const places = readable.filter((place) => !except.includes(place))
        if (places.length === 0) break
        if (Date.now() < end) continue
        wrong.push(...places.map((place) => `${place} still shows who ${leaver.userId} was`))
        break
      }
    return wrong
  } finally {
    await system.close()
  }
}

/** The report of the operator's command `erasure-report`: the stores that still show who a user was. */
export async function readableStores(system: System, { userId }: { userId: string }): Promise<string[]> {
  const found = await lookForUser(system, userId)
  if (!found) throw new Error(`there never was a user ${userId}`)
  return found.filter(({ readable }) => readable > 0).map(({ store }) => store)
}
