import { freePlace, giveBack, type Taken } from './chain.ts'
import { send, type SendOptions } from './send.ts'

/** Milliseconds after which a place begins no other chain, so that the other places can take it. */
const goesOnFor = 250

/**
 * Sends to the chains of one place, one after the other. What it does not come to in a moment it gives back, also while
 * the receiver still takes its time for one of them: objects do not wait for each other. Returns how many it came to.
 */
export async function sendBatch(
  options: SendOptions,
  chains: Taken[],
  { stopped, abandoned, givenBack }: { stopped: AbortSignal; abandoned: AbortSignal; givenBack(): void },
): Promise<number> {
  const left = [...chains]
  const given: Promise<void>[] = []
  let isFreed = false
  const others = {
    over() {
      isFreed = left.length === 0
      return isFreed
    },
    giveBack() {
      if (left.length === 0) return
      const giving = giveBack(options.sql, left.splice(0), false).then(givenBack)
      // Whether it failed is seen at the end.
      giving.catch(() => {})
      given.push(giving)
    },
  }
  const timer = setTimeout(() => others.giveBack(), goesOnFor)
  stopped.addEventListener('abort', others.giveBack)
  let reached = 0
  try {
    for (let chain = left.shift(); chain; chain = left.shift()) {
      reached++
      await send(options, chain, others, abandoned)
    }
  } finally {
    clearTimeout(timer)
    stopped.removeEventListener('abort', others.giveBack)
    others.giveBack()
    await Promise.all(given)
    // The others were given back while a try was recorded that was not the last one then.
    if (!isFreed) await freePlace(options.sql, chains[0]!)
  }
  return reached
}
